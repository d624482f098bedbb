import { LoopchartError } from '../errors.ts'
import { ExitCode } from './exit-code.ts'
import { countOf } from './run-figures.ts'
import { oneLine } from './safe-text.ts'
import { loadSettings } from './settings.ts'
import { openKnownStore, type StoreFlags } from './store-option.ts'
import { writeJson } from './write-json.ts'

export interface PruneFlags extends StoreFlags {
  readonly olderThan?: string
  readonly keepFailed?: true
  readonly json?: true
}

/** Removes old runs and says which; resolves with the exit code. */
export async function pruneRuns(flags: PruneFlags): Promise<number> {
  const olderThanMs = parseAge(flags.olderThan)
  const store = openKnownStore(flags, await loadSettings({}, process.env))
  try {
    const removed = store.prune({ olderThanMs, keepFailed: flags.keepFailed === true })
    if (flags.json === true) writeJson({ removed })
    else {
      process.stdout.write(removed.map((runId) => `${oneLine(runId)}\n`).join(''))
      process.stderr.write(`${countOf(removed.length, 'run')} removed, ${store.list().length} left\n`)
    }
    return ExitCode.ok
  } finally {
    store.close()
  }
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

function parseAge(text: string | undefined): number {
  const [, amount = '', unit = ''] = /^(\d{1,6})([mhdw])$/u.exec(text ?? '') ?? []
  const ms = Number(amount) * (UNIT_MS[unit] ?? 0)
  if (ms > 0) return ms
  const given = text === undefined ? '' : ` ${JSON.stringify(text)}`
  throw new LoopchartError('usage', `--older-than${given}: say how old, such as 30d, 12h or 8w`)
}
