import { LoopchartError } from '../errors.ts'
import { profileFor, PROFILES } from '../provider/profiles.ts'
import type { Config } from './config-file.ts'
import { readNamedFile } from './read-named-file.ts'

/** What one place says about settings; earlier ones outrank later ones. */
export interface ConfigLayer {
  readonly config: Config
}

export interface FoundKey {
  readonly apiKey: string | null
  /** Where it was found, or why one that is there is not used; null: there is none. */
  readonly apiKeySource: string | null
}

export interface KeySearch {
  readonly config: Config
  readonly layers: readonly ConfigLayer[]
  readonly sources: ReadonlyMap<string, string>
  readonly env: Readonly<NodeJS.ProcessEnv>
}

const KEY_BYTES_MAX = 64 * 1024
const OPENAI_KEY = 'OPENAI_API_KEY'

/**
 * Finds the key for the provider: a file that a flag names, the variable of that provider, any other file. A key goes
 * to the place that it was put there for: another base URL that somebody gives on top does not get it.
 */
export async function findKey({ config, layers, sources, env }: KeySearch): Promise<FoundKey> {
  const { api_key_file: file, base_url: baseUrl } = config
  const fileAt = layers.findIndex((layer) => layer.config.api_key_file !== undefined)
  const urlAt = layers.findIndex((layer) => layer.config.base_url !== undefined)
  const variable = keyVariableFor(baseUrl, env)
  const value = variable === null ? '' : (env[variable] ?? '')
  if (fileAt !== 0 && value !== '') return { apiKey: value, apiKeySource: variable }
  if (file !== undefined) {
    const source = sources.get('api_key_file') ?? ''
    if (urlAt === -1 || fileAt <= urlAt)
      return { apiKey: await readKey(file), apiKeySource: `${file}, ${source}` }
    return { apiKey: null, apiKeySource: `not used: ${file} is not for ${sources.get('base_url') ?? ''}` }
  }
  const isElsewhere = variable !== OPENAI_KEY && (env[OPENAI_KEY] ?? '') !== ''
  return {
    apiKey: null,
    apiKeySource: isElsewhere ? `not used: ${OPENAI_KEY} is for OpenAI or OPENAI_BASE_URL` : null,
  }
}

function keyVariableFor(baseUrl: string | undefined, env: Readonly<NodeJS.ProcessEnv>): string | null {
  const openai = PROFILES.openai.baseUrl ?? ''
  const base = URL.parse(baseUrl ?? openai)
  const itsOwn = URL.parse((env['OPENAI_BASE_URL'] ?? '') === '' ? openai : (env['OPENAI_BASE_URL'] ?? ''))
  if (base?.origin === itsOwn?.origin) return OPENAI_KEY
  const profile = profileFor(baseUrl ?? openai)
  return profile.baseUrl !== null && URL.parse(profile.baseUrl)?.origin === base?.origin
    ? profile.keyVariable
    : null
}

async function readKey(file: string): Promise<string> {
  const bytes = await readNamedFile(file, KEY_BYTES_MAX, 'a file that holds a key')
  const apiKey = bytes.toString('utf8').trim()
  if (/^[\u0021-\u007e]+$/u.test(apiKey)) return apiKey
  throw new LoopchartError(
    'usage',
    `${file} does not hold a key: it must be one line of ASCII without blanks`,
  )
}
