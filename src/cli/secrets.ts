import type { Settings } from './settings.ts'

const SECRET_NAME = /(?:key|token|secret|passw(?:or)?d|credential)s?$/iu
// Variables have many meanings; below this length a value is more likely a word than a secret.
const LENGTH_MIN = 8

/** Every value that must not be shown: the key, what variables by their names keep secret, what an address holds. */
export function listSecrets({
  apiKey,
  env,
  config,
}: Pick<Settings, 'apiKey' | 'env' | 'config'>): readonly string[] {
  const named = Object.entries(env).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) && value.length >= LENGTH_MIN ? [value] : [],
  )
  return [...(apiKey === null ? [] : [apiKey]), ...named, ...secretsInUrl(config.base_url)]
}

function secretsInUrl(address: string | undefined): readonly string[] {
  if (address === undefined || !URL.canParse(address)) return []
  const { password, username, searchParams } = new URL(address)
  return [password, username, ...searchParams.values()].map(decode).filter((value) => value !== '')
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
