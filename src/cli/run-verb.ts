import { LoopchartError } from '../errors.ts'
import { openStore } from '../journal/open-store.ts'
import type { Agent } from '../loop/agent.ts'
import type { InputPart } from '../loop/run-input.ts'
import { askingTerminal } from './approvals.ts'
import { readAttachments } from './attachments.ts'
import { chooseModel, chooseScripted } from './choose-model.ts'
import { builtinFlags, chooseTools } from './choose-tools.ts'
import { JsonView } from './json-view.ts'
import { KeptRun } from './kept-run.ts'
import { LiveView } from './live-view.ts'
import { loadAgent } from './load-agent.ts'
import { openLog } from './log.ts'
import { makeAgent, withLimits } from './make-agent.ts'
import { readPrompt } from './read-prompt.ts'
import { Redactor } from './redactor.ts'
import { resumeHint } from './resume-hint.ts'
import type { RunFlags } from './run-flags.ts'
import { runSession, type SessionOptions } from './run-session.ts'
import type { RunView } from './run-view.ts'
import { oneLine } from './safe-text.ts'
import { listSecrets } from './secrets.ts'
import { loadSettings, type Settings } from './settings.ts'
import { storePathOf } from './store-option.ts'
import { terminalOn } from './terminal.ts'

/** Runs one loop for `loopchart run`; resolves with the exit code. */
export async function runVerb(prompt: string | undefined, flags: RunFlags): Promise<number> {
  checkFlags(flags)
  const settings = await loadSettings(flags, process.env)
  const text = await readPrompt(prompt)
  const attached = await readAttachments(flags.attach ?? [])
  const first: InputPart = { type: 'input_text', text }
  const path = storePathOf(flags, settings)
  // Before anything else: a store that cannot be used must not be found out about after the first request.
  const store = path === null ? null : openStore(path)
  const kept =
    store === null
      ? null
      : new KeptRun({ store, reconciled: new Map(), resumeHint: (id) => resumeHint(flags, id) })
  try {
    return await driveRun(flags, settings, {
      input: attached.length === 0 ? text : [first, ...attached],
      kept,
    })
  } finally {
    kept?.close()
  }
}

export interface DrivenRun extends Pick<SessionOptions, 'input' | 'kept' | 'decided'> {
  /** What to do before, once it is known with what agent. */
  readonly prepare?: (agent: Agent) => void
}

/** Drives a run, new or old, as flags and settings say; resolves with the exit code. */
export async function driveRun(
  flags: RunFlags,
  settings: Settings,
  { prepare, ...session }: DrivenRun,
): Promise<number> {
  const { config } = settings
  const redactor = new Redactor(listSecrets(settings))
  const approve = config.approve ?? 'ask'
  const terminal = askingTerminal(flags.json === true)
  const isAsking = terminal !== null && approve !== 'none'
  const { agent: runnable, close, notes } = await chooseAgent(flags, settings)
  try {
    const log = await openLog({ level: config.log_level ?? 'silent', file: config.log_file, redactor })
    try {
      prepare?.(runnable)
      for (const note of notes) process.stderr.write(`loopchart: ${oneLine(redactor.text(note))}\n`)
      return await runSession({
        agent: runnable,
        view: flags.json === true ? new JsonView(process.stdout) : liveView(settings.env, isAsking),
        log,
        redactor,
        approve,
        isUnsandboxedAllowed: config.allow_unsandboxed === true,
        terminal,
        ...session,
      })
    } finally {
      log?.close()
    }
  } finally {
    await close()
  }
}

/** On a terminal everything goes there; otherwise the answer goes to stdout and the rest to stderr. */
function liveView(env: Readonly<NodeJS.ProcessEnv>, isAsking: boolean): RunView {
  const answer = terminalOn(process.stdout, env)
  const progress = process.stdout.isTTY ? answer : terminalOn(process.stderr, env)
  return new LiveView({ answer, progress, isAsking })
}

/** Throws `usage` for flags that contradict each other or that nothing would come of. */
export function checkFlags({ provider, script, agent: file, ...flags }: RunFlags): void {
  if (provider !== undefined && provider !== 'scripted') {
    throw new LoopchartError('usage', '--provider must be scripted; for any other give its --base-url')
  }
  if (script !== undefined && provider === undefined) {
    throw new LoopchartError('usage', '--script needs --provider scripted')
  }
  if (provider !== undefined && flags.baseUrl !== undefined) {
    throw new LoopchartError('usage', '--provider scripted and --base-url contradict each other; give one')
  }
  if (file === undefined) return
  const { baseUrl, apiKeyFile, model, continuity, stream, retries, tools } = flags
  const given = {
    '--provider': provider,
    '--base-url': baseUrl,
    '--api-key-file': apiKeyFile,
    '--model': model,
    '--continuity': continuity,
  }
  const more = {
    '--no-stream': stream === false ? true : undefined,
    '--retries': retries,
    '--tools': tools,
    ...builtinFlags(flags),
  }
  const [first] = Object.entries({ ...given, ...more }).find(([, value]) => value !== undefined) ?? []
  if (first !== undefined) {
    throw new LoopchartError(
      'usage',
      `${first} has no effect with --agent: the agent's file says that; leave it out`,
    )
  }
}

interface Runnable {
  readonly agent: Agent
  readonly close: () => Promise<void>
  /** What the user should know before anything runs. */
  readonly notes: readonly string[]
}

async function chooseAgent(flags: RunFlags, settings: Settings): Promise<Runnable> {
  const { config } = settings
  if (flags.agent !== undefined) {
    // The module looks for its key where it always does.
    for (const [name, value] of Object.entries(settings.env)) process.env[name] ||= value
    const loaded = await loadAgent(flags.agent)
    return { agent: withLimits(loaded, config.limits), close: () => Promise.resolve(), notes: [] }
  }
  const chosenTools = await chooseTools(flags, settings)
  const chosen =
    flags.provider === 'scripted' ? await chooseScripted(flags.script, settings) : chooseModel(settings)
  try {
    const made = makeAgent(chosen, config, chosenTools)
    return { agent: made, close: chosen.close, notes: chosenTools.notes }
  } catch (error) {
    await chosen.close()
    throw error
  }
}
