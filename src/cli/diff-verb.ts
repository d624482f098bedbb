import { LoopchartError } from '../errors.ts'
import { diffRuns } from '../replay/diff-runs.ts'
import { ExitCode } from './exit-code.ts'
import { readRun } from './read-run.ts'
import { Redactor } from '../frames/redactor.ts'
import { oneLine } from './safe-text.ts'
import { listSecrets } from './secrets.ts'
import { loadSettings } from './settings.ts'
import type { StoreFlags } from './store-option.ts'
import { writeJson } from './write-json.ts'

export interface DiffFlags extends StoreFlags {
  readonly json?: true
}

/** Says where two runs part; resolves with the exit code, which says whether they do. */
export async function diffVerb(a: string, b: string, flags: DiffFlags): Promise<number> {
  if (a === '-' && b === '-') {
    throw new LoopchartError(
      'usage',
      'standard input can be read only once; name a file or a stored run in place of one -',
    )
  }
  const settings = await loadSettings({}, process.env)
  const redactor = new Redactor(listSecrets(settings))
  const [one, other] = [await readRun(a, flags, settings), await readRun(b, flags, settings)]
  const found = diffRuns(one.frames, other.frames)
  if (flags.json === true) writeJson(redactor.json(JSON.parse(JSON.stringify(found))))
  else process.stdout.write(`${oneLine(redactor.text(found.text))}\n`)
  return found.isSame ? ExitCode.ok : ExitCode.different
}
