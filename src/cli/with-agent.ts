import type { Agent } from '../loop/agent.ts'
import { askingTerminal } from './approvals.ts'
import { chooseAgent } from './choose-agent.ts'
import { JsonView } from './json-view.ts'
import { LiveView, type LiveViewOptions } from './live-view.ts'
import { openLog } from './log.ts'
import { Redactor } from '../frames/redactor.ts'
import type { RunFlags } from './run-flags.ts'
import type { RunView } from './run-view.ts'
import { oneLine } from './safe-text.ts'
import { sayTo, type Say } from './say-to.ts'
import { listSecrets } from './secrets.ts'
import type { Settings } from './settings.ts'
import type { Showing } from './show-run.ts'
import { terminalOn, type Terminal } from './terminal.ts'

/** An agent, and what it takes to show its runs. */
export interface EquippedAgent extends Showing {
  readonly agent: Agent
  /** On standard error. */
  readonly say: Say
  /** Says something where progress is shown, as a thing of little weight. */
  readonly note: Say
  /** A view for one run. */
  readonly makeView: (detail?: LiveViewOptions['detail']) => RunView
}

/** Makes the agent that flags and settings name for as long as it is used. */
export async function withAgent<Result>(
  flags: RunFlags,
  settings: Settings,
  use: (equipped: EquippedAgent) => Promise<Result>,
): Promise<Result> {
  const { config } = settings
  const redactor = new Redactor(listSecrets(settings))
  const say = sayTo(process.stderr, redactor)
  const { answer, progress } = outputs(settings.env)
  const approve = config.approve ?? 'ask'
  const terminal = askingTerminal(flags.json === true)
  const isAsking = terminal !== null && approve !== 'none'
  const { agent, close, notes } = await chooseAgent(flags, settings)
  try {
    const log = await openLog({ level: config.log_level ?? 'silent', file: config.log_file, redactor })
    try {
      for (const note of notes) say(note)
      return await use({
        agent,
        say,
        note: (text) =>
          void progress.stream.write(`${progress.paint('dim', oneLine(redactor.text(text)))}\n`),
        log,
        redactor,
        approve,
        isUnsandboxedAllowed: config.allow_unsandboxed === true,
        terminal,
        makeView: (detail = 'full') =>
          flags.json === true
            ? new JsonView(process.stdout)
            : new LiveView({ answer, progress, isAsking, detail }),
      })
    } finally {
      log?.close()
    }
  } finally {
    await close()
  }
}

/** On a terminal everything goes there; otherwise the answer goes to stdout and the rest to stderr. */
function outputs(env: Readonly<NodeJS.ProcessEnv>): Readonly<Record<'answer' | 'progress', Terminal>> {
  const answer = terminalOn(process.stdout, env)
  return { answer, progress: process.stdout.isTTY ? answer : terminalOn(process.stderr, env) }
}
