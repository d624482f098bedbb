import { LoopchartError } from '../../errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { ArtifactStore } from '../artifacts/artifact-store.ts'
import { clearLeftovers } from '../process/clear-leftovers.ts'
import type { Command } from '../process/command-argv.ts'
import { commandEnvironment, type Environment } from '../process/command-environment.ts'
import { previewCommand } from '../process/command-preview.ts'
import { commandResult } from '../process/command-result.ts'
import { findSandbox, type Sandbox } from '../process/find-sandbox.ts'
import { LIMITS_DEFAULT, type CommandLimits } from '../process/limit-argv.ts'
import { runCommand } from '../process/run-command.ts'
import { viewWorkspace } from '../process/workspace-view.ts'
import { tool, type Tool } from '../tool.ts'
import type { ToolResult } from '../tool-result.ts'
import type { ApprovalNeed, ToolContext } from '../tool-settings.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { textOf, wholeOf } from './arguments.ts'

/** How commands of a model are run. */
export interface ShellOptions {
  /** `auto`: in bubblewrap when that works here. `off`: never. */
  readonly sandbox: 'auto' | 'off'
  /** Variables that commands get besides PATH, HOME, LANG, LC_ALL, TZ and TERM. */
  readonly env?: Environment
  readonly limits?: Partial<CommandLimits>
  /** A command without a sandbox is then asked about like one in it, no longer each time. */
  readonly isUnsandboxedAllowed?: boolean
}

export interface ShellToolOptions {
  readonly workspace: Workspace
  readonly artifacts: ArtifactStore
  /** Outside the workspace; commands in the sandbox do not see it. */
  readonly stateFolder: string
  readonly shell: ShellOptions
}

const TIMEOUT_MS_DEFAULT = 120_000
const TIMEOUT_MS_MAX = 600_000
// The tool's own timeout comes first, for its result has what the command said until then.
const CALL_TIMEOUT_MS = 610_000
const COMMAND_LENGTH_MAX = 131_072

/** Lets a model run commands in the workspace, in a sandbox where there is one. Looks for that first. */
export async function shellTool(options: ShellToolOptions): Promise<Tool> {
  const { workspace, shell } = options
  const sandbox = shell.sandbox === 'off' ? null : await findSandbox(workspace.root)
  const need = approvalNeed(sandbox, shell)
  return tool({
    name: 'shell',
    aliases: ['bash'],
    description: describe(sandbox),
    inputSchema: INPUT_SCHEMA,
    timeoutMs: CALL_TIMEOUT_MS,
    scope: workspace.root,
    needsApproval: () => need,
    preview: async (args) => {
      const command = readCommand(args)
      const view = sandbox === null ? null : await viewWorkspace(workspace.root)
      return previewCommand(command, sandbox !== null, view?.isComplete ?? true)
    },
    touches: (args) => [{ kind: 'command', argv: shownArgv(readCommand(args)) }],
    execute: (args, context) => execute(options, sandbox, args, context),
  })
}

const INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    command: {
      type: 'string',
      minLength: 1,
      maxLength: COMMAND_LENGTH_MAX,
      description: 'Text for `bash -c`, with pipes and the like. Give this or argv.',
    },
    argv: {
      type: 'array',
      items: { type: 'string', maxLength: COMMAND_LENGTH_MAX },
      minItems: 1,
      maxItems: 4096,
      description:
        'A program and its arguments, passed on as they are without a shell. Give this or command.',
    },
    timeout_ms: {
      type: 'integer',
      minimum: 1,
      maximum: TIMEOUT_MS_MAX,
      description: 'When to stop the command, in milliseconds. Default 120000.',
    },
  },
  required: [],
  additionalProperties: false,
}

function describe(sandbox: Sandbox | null): string {
  const where =
    sandbox === null
      ? 'There is no sandbox. '
      : 'It runs in a sandbox: no network, only the workspace and /tmp can be written, /tmp is empty each time, ' +
        'and files that look like secrets cannot be read. '
  return (
    'Run a command in the root of the workspace and return its stdout, stderr and exit code. ' +
    where +
    'It has no input and no terminal. Processes left in the background are ended with it. ' +
    'Each stream over 512 KiB is cut in the middle, and artifact_fetch gives the rest.'
  )
}

function approvalNeed(sandbox: Sandbox | null, { isUnsandboxedAllowed = false }: ShellOptions): ApprovalNeed {
  if (sandbox !== null || isUnsandboxedAllowed) return { reason: 'command', isEachTime: false }
  return { reason: 'unsandboxed', isEachTime: true }
}

function readCommand(args: JsonObject): Command {
  const script = textOf(args, 'command')
  const { argv } = args
  if ((script === undefined) === (argv === undefined)) {
    throw new LoopchartError('tool_arguments_invalid', 'give exactly one of command and argv')
  }
  if (script !== undefined) return { script }
  return { argv: Array.isArray(argv) ? argv.filter((argument) => typeof argument === 'string') : [] }
}

function shownArgv(command: Command): readonly string[] {
  return 'script' in command ? ['bash', '-c', command.script] : command.argv
}

/** One that is undefined must not hide its default: nothing is more than that. */
function limitsOf(asked: Partial<CommandLimits>): CommandLimits {
  const { memoryBytesMax, processesMax, fileBytesMax, cpuSecondsMax } = asked
  return {
    memoryBytesMax: memoryBytesMax ?? LIMITS_DEFAULT.memoryBytesMax,
    processesMax: processesMax ?? LIMITS_DEFAULT.processesMax,
    fileBytesMax: fileBytesMax ?? LIMITS_DEFAULT.fileBytesMax,
    cpuSecondsMax: cpuSecondsMax ?? LIMITS_DEFAULT.cpuSecondsMax,
  }
}

async function execute(
  { workspace, artifacts, stateFolder, shell }: ShellToolOptions,
  sandbox: Sandbox | null,
  args: JsonObject,
  { key, onOutput, signal }: ToolContext,
): Promise<ToolResult> {
  const command = readCommand(args)
  const timeoutMs = wholeOf(args, 'timeout_ms') ?? TIMEOUT_MS_DEFAULT
  const limits = limitsOf(shell.limits ?? {})
  const isSandboxed = sandbox !== null
  await clearLeftovers(stateFolder)
  if (!isSandboxed) onOutput('stderr', '[unsandboxed]\n')
  const { root: workspaceRoot } = workspace
  const result = await workspace.withFolder(workspace.parse('.'), (cwd) => {
    const environment = commandEnvironment({
      workspaceRoot,
      stateFolder,
      isSandboxed,
      extra: shell.env ?? {},
    })
    const options = { workspaceRoot, cwd, stateFolder, artifacts, environment, sandbox }
    return runCommand(command, { ...options, limits, timeoutMs, key, onOutput, signal })
  })
  // Bubblewrap cannot start in a folder that is gone, and says so in its own words.
  if (result.ending.kind === 'no_sandbox') workspace.assertThere()
  return commandResult(result, { isSandboxed, limits, timeoutMs })
}
