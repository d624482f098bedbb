import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'

import { LoopchartError } from '../../errors.ts'
import type { ArtifactStore } from '../artifacts/artifact-store.ts'
import type { KeptOutput } from '../artifacts/keep-output.ts'
import type { OutputListener } from '../tool-settings.ts'
import { CALL_VARIABLE, CallProcesses } from './call-processes.ts'
import { commandArgv, type Command } from './command-argv.ts'
import type { Environment } from './command-environment.ts'
import { endingOf, type Ending } from './command-ending.ts'
import { lookUpProgram } from './find-program.ts'
import type { Sandbox } from './find-sandbox.ts'
import { hiddenPlaces } from './hidden-places.ts'
import { limitArgv, type CommandLimits } from './limit-argv.ts'
import { OutputCapture } from './output-capture.ts'
import { ownProcessRecord, removeProcessRecord, writeProcessRecord } from './process-records.ts'
import { sandboxArgv } from './sandbox-argv.ts'
import { SandboxStatus } from './sandbox-status.ts'
import { settleCommand } from './settle-command.ts'
import { spawnCommand, type SpawnedCommand } from './spawn-command.ts'
import { viewWorkspace } from './workspace-view.ts'

export interface RunCommandOptions {
  readonly workspaceRoot: string
  /** A path that leads to the workspace; it may be one of a held descriptor. */
  readonly cwd: string
  /** Where records of running commands are. */
  readonly stateFolder: string
  readonly artifacts: ArtifactStore
  /** All that the command gets. */
  readonly environment: Environment
  /** Null: the command can do what we can. */
  readonly sandbox: Sandbox | null
  readonly limits: CommandLimits
  readonly timeoutMs: number
  /** Which call it is, for the record. */
  readonly key: string
  readonly onOutput: OutputListener
  readonly signal: AbortSignal
}

/** How a command ended and what it said. Holds nothing that differs between two equal commands. */
export interface CommandResult {
  readonly ending: Ending
  readonly stdout: KeptOutput
  readonly stderr: KeptOutput
  /** How many processes had left the group of the command and were killed one by one. */
  readonly escaped: number
  /** How many could not be killed. */
  readonly survivors: number
  /** Whether a process that was not found holds its streams open still. */
  readonly isHeldOpen: boolean
  /** Whether the machine held it to limits other than time and number of processes. */
  readonly isLimited: boolean
  /** Whether all of the workspace was searched for files that the sandbox must cover. */
  readonly isViewComplete: boolean
}

/**
 * Runs one command and always settles: at most two seconds after the timeout or the abort, and a second after its
 * end when others hold its streams. Then every process of it that can be found is dead. Throws only when it cannot be
 * started.
 */
export async function runCommand(command: Command, options: RunCommandOptions): Promise<CommandResult> {
  const { stateFolder, artifacts, onOutput, key, sandbox, cwd } = options
  const token = randomBytes(16).toString('hex')
  const plan = await planCommand(command, options, token)
  if (plan.fault !== null) return unstarted(plan, plan.fault)
  if (options.signal.aborted) throw new LoopchartError('tool_cancelled', 'the command was not started')
  try {
    // Before the start: whoever kills us in between leaves a process that its token gives away.
    recordStart(stateFolder, token, key)
    const child = await spawnCommand({ ...plan, cwd, isReporting: sandbox !== null })
    const processes = new CallProcesses(child.pid, token, sandbox !== null)
    // From here on nothing may throw: the process would be left behind. Without its pid, the token finds it.
    quietly(() => writeProcessRecord(stateFolder, ownProcessRecord(token, key, processes.leader)))
    const stdout = new OutputCapture(artifacts, (text) => onOutput('stdout', text))
    const stderr = new OutputCapture(artifacts, (text) => onOutput('stderr', text))
    readStreams(child, stdout, stderr)
    const status = child.status === null ? null : new SandboxStatus(child.status)
    const settled = await settleCommand(child, processes, options)
    const kept = { stdout: await stdout.finish(), stderr: await stderr.finish() }
    const { isLimited, isViewComplete } = plan
    const { escaped, survivors, isHeldOpen } = settled
    const hasStarted = status?.hasStarted ?? true
    const ending = endingOf({
      settled,
      stderr: kept.stderr.text,
      isSandboxed: sandbox !== null,
      hasStarted,
    })
    return { ending, ...kept, escaped, survivors, isHeldOpen, isLimited, isViewComplete }
  } finally {
    quietly(() => removeProcessRecord(stateFolder, token))
  }
}

function recordStart(stateFolder: string, token: string, key: string): void {
  try {
    writeProcessRecord(stateFolder, ownProcessRecord(token, key, null))
  } catch (cause) {
    const message = 'the command was not started because no record of it could be written'
    throw new LoopchartError('command_failed', message, { cause })
  }
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // The next loopchart reads the record and finds nobody to kill.
  }
}

const NOTHING: KeptOutput = { text: '', bytesTotal: 0, isTruncated: false, artifact: null }

function unstarted({ isLimited, isViewComplete }: CommandPlan, kind: StartFault): CommandResult {
  const streams = { stdout: NOTHING, stderr: NOTHING }
  return {
    ending: { kind },
    ...streams,
    escaped: 0,
    survivors: 0,
    isHeldOpen: false,
    isLimited,
    isViewComplete,
  }
}

type StartFault = Exclude<ReturnType<typeof lookUpProgram>, 'found'>

interface CommandPlan {
  readonly argv: readonly string[]
  readonly shownAs: string
  readonly environment: Environment
  readonly isLimited: boolean
  readonly isViewComplete: boolean
  /** Why it cannot be started; null when it can, or when only the sandbox will know. */
  readonly fault: StartFault | null
}

async function planCommand(
  command: Command,
  options: RunCommandOptions,
  token: string,
): Promise<CommandPlan> {
  const { sandbox, workspaceRoot, stateFolder, cwd } = options
  const environment: Environment = { ...options.environment, [CALL_VARIABLE]: token }
  const asked = commandArgv(command, workspaceRoot)
  const [shownAs = ''] = asked
  const limited = (argv: readonly string[]): Pick<CommandPlan, 'argv' | 'isLimited'> => {
    const within = limitArgv(argv, options)
    return { argv: within ?? argv, isLimited: within !== null }
  }
  if (sandbox === null) {
    // Looked up here: what prlimit says about a program that is not there, a command could say as well.
    const found = lookUpProgram(shownAs, environment['PATH'] ?? '', cwd)
    const fault = found === 'found' ? null : found
    return { ...limited(asked), shownAs, environment, isViewComplete: true, fault }
  }
  // It would be bound for writing over all that is read-only and hidden.
  if (dirname(workspaceRoot) === workspaceRoot) {
    const message = 'no sandbox can be made when the workspace is the whole machine; open a folder instead'
    throw new LoopchartError('command_failed', message)
  }
  const view = await viewWorkspace(workspaceRoot)
  const hidden = hiddenPlaces(stateFolder, environment['PATH'] ?? '')
  const plan = { sandbox, workspaceRoot, view, hidden }
  // Around the sandbox, not in it: then it is the sandbox that starts the command, and says whether it could.
  const sandboxed = limited(sandboxArgv(plan, asked))
  return { ...sandboxed, shownAs, environment, isViewComplete: view.isComplete, fault: null }
}

function readStreams(child: SpawnedCommand, stdout: OutputCapture, stderr: OutputCapture): void {
  child.stdout.on('data', (chunk: Buffer) => takeAndFree(stdout, chunk))
  child.stderr.on('data', (chunk: Buffer) => takeAndFree(stderr, chunk))
}

/** Frees the memory of a chunk at once: it would wait for a collection that comes only after some 64 MiB of them. */
function takeAndFree(capture: OutputCapture, chunk: Buffer): void {
  capture.take(chunk)
  const { buffer, length } = chunk
  // Small ones share their memory with others.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
