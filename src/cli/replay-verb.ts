import { replay } from '../replay-run.ts'
import type { Divergence } from '../replay/replay-frames.ts'
import { ExitCode } from './exit-code.ts'
import { readRun } from './read-run.ts'
import { Redactor } from '../frames/redactor.ts'
import { countOf } from './run-figures.ts'
import { oneLine, shorten } from './safe-text.ts'
import { listSecrets } from './secrets.ts'
import { loadSettings } from './settings.ts'
import type { StoreFlags } from './store-option.ts'
import { writeJson } from './write-json.ts'

export interface ReplayFlags extends StoreFlags {
  readonly json?: true
}

/** Drives a log again and compares; resolves with the exit code, which says whether all of it follows. */
export async function replayVerb(given: string, flags: ReplayFlags): Promise<number> {
  const settings = await loadSettings({}, process.env)
  const redactor = new Redactor(listSecrets(settings))
  const { frames } = await readRun(given, flags, settings)
  // Of a masked text neither a request nor a response can be made again.
  const isRedacted = frames.some((frame) => Object.hasOwn(frame, 'redacted'))
  const result = replay(frames, { depth: isRedacted ? 'chart' : 'all' })
  if (flags.json === true)
    writeJson(redactor.json({ ...JSON.parse(JSON.stringify(result)), redacted: isRedacted }))
  else if (result.ok) {
    const less = isRedacted
      ? '; secrets are masked in it, so requests and responses were taken as they are'
      : ''
    process.stdout.write(
      `identical: ${countOf(result.frames, 'frame')}, ${countOf(result.decisions, 'decision')}${less}\n`,
    )
  } else process.stdout.write(`${oneLine(redactor.text(describe(result.divergence)))}\n`)
  return result.ok ? ExitCode.ok : ExitCode.different
}

function describe({ seq, state, field, expected, actual }: Divergence): string {
  const where = state === '' ? 'before the start' : `in ${state}`
  return `differs at frame ${seq}, ${where}: ${field} is ${shown(actual)}, it should be ${shown(expected)}`
}

const SHOWN_MAX = 300

function shown(value: unknown): string {
  return value === undefined ? 'not there' : shorten(JSON.stringify(value), SHOWN_MAX)
}
