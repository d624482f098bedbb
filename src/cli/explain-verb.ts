import { explainRun } from '../replay/explain-run.ts'
import { runTransitions, type Transition } from '../replay/run-transitions.ts'
import { describeRun } from './describe-run.ts'
import { ExitCode } from './exit-code.ts'
import { readRun } from './read-run.ts'
import { Redactor } from '../frames/redactor.ts'
import { oneLine } from './safe-text.ts'
import { listSecrets } from './secrets.ts'
import { loadSettings } from './settings.ts'
import type { StoreFlags } from './store-option.ts'
import { tableOf } from './table-of.ts'
import { writeJson } from './write-json.ts'

export interface ExplainFlags extends StoreFlags {
  readonly json?: true
}

/** Says why a stored run is where it is, what it waits for, and what brought it there; resolves with the exit code. */
export async function explainVerb(given: string, flags: ExplainFlags): Promise<number> {
  const settings = await loadSettings({}, process.env)
  const redactor = new Redactor(listSecrets(settings))
  const { frames, owner } = await readRun(given, flags, settings)
  const explained = explainRun(frames)
  const transitions = runTransitions(frames)
  if (flags.json === true) {
    const decisions = transitions.map(({ seq, by, states }) => ({ seq, by, states }))
    writeJson(redactor.json(JSON.parse(JSON.stringify({ ...explained, owner, decisions }))))
    return ExitCode.ok
  }
  const lines = describeRun(explained, owner).map((line) => `${oneLine(redactor.text(line))}\n`)
  process.stdout.write(`${lines.join('')}\n${decisionTable(transitions, redactor)}`)
  return ExitCode.ok
}

function decisionTable(transitions: readonly Transition[], redactor: Redactor): string {
  const rows = transitions.map(({ seq, by, states }) => [
    String(seq),
    oneLine(redactor.text(by)),
    states.length === 0 ? '-' : states.map((state) => state.replace(/^working\./u, '')).join(' > '),
  ])
  return tableOf(['frame', 'decision', 'then'], rows)
}
