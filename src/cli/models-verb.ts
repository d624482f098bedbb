import { LoopchartError } from '../errors.ts'
import { listModels } from '../provider/list-models.ts'
import { oneLine, safeJson } from './safe-text.ts'
import { loadSettings, type SettingFlags } from './settings.ts'

/** Prints the models that the provider offers, one a line or as JSON; resolves with what to print. */
export async function models(flags: SettingFlags & { readonly json?: true }): Promise<string> {
  const { config, apiKey } = await loadSettings(flags, process.env)
  if (config.base_url === undefined && apiKey === null) {
    throw new LoopchartError(
      'provider_missing',
      'there is no provider to ask: set OPENAI_API_KEY, or give --base-url',
    )
  }
  const listed = await listModels({ baseUrl: config.base_url, apiKey: apiKey ?? '' })
  if (flags.json === true) return `${safeJson(JSON.stringify(listed, null, 2))}\n`
  return listed
    .map(({ id, ownedBy }) => `${oneLine(id)}${ownedBy === null ? '' : `  (${oneLine(ownedBy)})`}\n`)
    .join('')
}
