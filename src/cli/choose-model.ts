import { LoopchartError } from '../errors.ts'
import type { Model } from '../loop/model.ts'
import { openResponses } from '../provider/open-responses.ts'
import { parseJson } from '../protocol/json.ts'
import { parseScript } from '../provider/scripted/parse-script.ts'
import { startScriptedProvider } from '../provider/scripted/start-scripted-provider.ts'
import type { Script } from '../provider/scripted/script.ts'
import { demoScript } from './demo-script.ts'
import { readNamedFile } from './read-named-file.ts'
import type { Settings } from './settings.ts'

/** A model to run with, and what must be closed when it is not needed any more. */
export interface ChosenModel {
  readonly model: Model
  readonly close: () => Promise<void>
}

const NO_PROVIDER =
  'there is no provider: set OPENAI_API_KEY, or give --base-url of an Open Responses endpoint; ' +
  'to try it without one, add --provider scripted'

// A run that is there already was begun with something, and only that or what is like it can go on with it.
const NO_PROVIDER_AGAIN =
  'there is no provider to go on with: give --agent FILE or --base-url as the run was begun with, or set OPENAI_API_KEY'

/** Throws `provider_missing` when nothing says what a stored run goes on with. */
export function checkProviderAgain(agent: string | undefined, settings: Settings): void {
  if (agent === undefined) checkProvider(settings, NO_PROVIDER_AGAIN)
}

function checkProvider({ config, apiKey, apiKeySource }: Settings, advice: string): void {
  if (config.base_url !== undefined || apiKey !== null) return
  const why = apiKeySource === null ? '' : ` (${apiKeySource})`
  throw new LoopchartError('provider_missing', advice + why)
}

/** The model that settings name. Throws `provider_missing` when they name none. */
export function chooseModel(settings: Settings): ChosenModel {
  checkProvider(settings, NO_PROVIDER)
  const { config, apiKey } = settings
  const { base_url: baseUrl, model, stream, context_window: contextWindow } = config
  if (model === undefined) {
    throw new LoopchartError(
      'provider_missing',
      'no model is named: give --model or set LOOPCHART_MODEL; loopchart models lists what there is',
    )
  }
  return {
    // An empty key: none is sent, also not one that the environment has for somebody else.
    model: openResponses({ model, baseUrl, apiKey: apiKey ?? '', stream, contextWindow }),
    close: () => Promise.resolve(),
  }
}

/** The provider in this process, over HTTP like any other, with a script of its own or that of a file. */
export async function chooseScripted(
  scriptFile: string | undefined,
  settings: Settings,
): Promise<ChosenModel> {
  const script = scriptFile === undefined ? demoScript : await readScript(scriptFile)
  const provider = await startScriptedProvider(script)
  const { model = 'scripted-1', stream, context_window: contextWindow } = settings.config
  return {
    model: openResponses({ model, baseUrl: provider.url, apiKey: '', stream, contextWindow }),
    close: () => provider.close(),
  }
}

const SCRIPT_BYTES_MAX = 16 * 1024 * 1024

/** Reads the script of a file. Throws `file_unreadable` or `script_invalid`. */
export async function readScript(path: string): Promise<Script> {
  const bytes = await readNamedFile(path, SCRIPT_BYTES_MAX, 'a script')
  // Some editors begin a file with a mark that is not JSON.
  const value = parseJson(bytes.toString('utf8').replace(/^\uFEFF/u, ''))
  if (value === undefined) throw new LoopchartError('script_invalid', `${path} is not JSON`)
  return parseScript(value)
}
