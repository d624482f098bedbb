import { formatFrame } from '../frames/format-frame.ts'
import { openStore } from '../journal/open-store.ts'
import { ExitCode } from './exit-code.ts'
import { findRunId } from './find-run.ts'
import { readLines } from './read-run.ts'
import { FrameRedactor } from '../frames/redact-frames.ts'
import { Redactor } from '../frames/redactor.ts'
import { importLines, tornIn } from './imported-log.ts'
import { countOf } from './run-figures.ts'
import { oneLine, safeJson } from './safe-text.ts'
import { listSecrets } from './secrets.ts'
import { loadSettings } from './settings.ts'
import { knownStorePath, openKnownStore, type StoreFlags } from './store-option.ts'

/** Prints the log of a stored run as JSON lines; resolves with the exit code. */
export async function exportRun(given: string, flags: StoreFlags): Promise<number> {
  const settings = await loadSettings({}, process.env)
  const redactor = new Redactor(listSecrets(settings))
  const frames = new FrameRedactor(redactor)
  const store = openKnownStore(flags, settings)
  try {
    for (const frame of store.read(findRunId(store, given, flags))) {
      for (const shown of frames.push(frame)) process.stdout.write(`${safeJson(formatFrame(shown))}\n`)
    }
    for (const shown of frames.end()) process.stdout.write(`${safeJson(formatFrame(shown))}\n`)
  } finally {
    store.close()
  }
  if (redactor.masked > 0)
    process.stderr.write('loopchart: secrets were masked as [redacted] in what was printed\n')
  return ExitCode.ok
}

/** Takes a log of JSON lines into the store; resolves with the exit code. */
export async function importRun(file: string, flags: StoreFlags): Promise<number> {
  const lines = await readLines(file)
  const store = openStore(knownStorePath(flags, await loadSettings({}, process.env)))
  try {
    const imported = importLines(store, { given: file, lines })
    process.stdout.write(`${oneLine(imported.runId)}\n`)
    const torn = tornIn(imported)
    process.stderr.write(`${countOf(imported.frames, 'frame')} taken in${torn === null ? '' : `; ${torn}`}\n`)
    return ExitCode.ok
  } finally {
    store.close()
  }
}
