import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'
import { z } from 'zod'

import { configPath, configShape, readConfigFile } from '../../src/cli/config-file.ts'
import { loadSettings } from '../../src/cli/settings.ts'
import { makeFolder } from './run-cli.ts'

function configHome(config: unknown): string {
  const home = makeFolder()
  mkdirSync(join(home, 'loopchart'))
  const text = typeof config === 'string' ? config : JSON.stringify(config)
  writeFileSync(join(home, 'loopchart', 'config.json'), text)
  return home
}

test('a flag outranks a variable, that the env file, and that the config file', async () => {
  const home = configHome({ model: 'file', continuity: 'auto', approve: 'all', verbosity: 'low' })
  const envFile = join(makeFolder({ '.env': 'LOOPCHART_MODEL=envfile\nLOOPCHART_APPROVE=none\n' }), '.env')
  const env = { XDG_CONFIG_HOME: home, LOOPCHART_MODEL: 'variable', LOOPCHART_CONTINUITY: 'stateless' }
  const { config, sources } = await loadSettings({ model: 'flag', envFile }, env)
  expect(config).toEqual({ model: 'flag', continuity: 'stateless', approve: 'none', verbosity: 'low' })
  expect(Object.fromEntries(sources)).toEqual({
    model: '--model',
    continuity: 'LOOPCHART_CONTINUITY',
    approve: `LOOPCHART_APPROVE in ${envFile}`,
    verbosity: join(home, 'loopchart', 'config.json'),
  })
})

test('an empty variable hides nothing of the env file, the key neither', async () => {
  const envFile = join(makeFolder({ '.env': 'LOOPCHART_MODEL=m\nOPENAI_API_KEY=sk-of-the-file\n' }), '.env')
  const env = { XDG_CONFIG_HOME: '/nowhere', LOOPCHART_MODEL: '', OPENAI_API_KEY: '' }
  const { config, apiKey } = await loadSettings({ envFile }, env)
  expect([config.model, apiKey]).toEqual(['m', 'sk-of-the-file'])
})

test('limits are put together one by one', async () => {
  const home = configHome({ limits: { turns: 3, tokens: 500 } })
  const { config } = await loadSettings({ limit: 'turns=9,ms=1000' }, { XDG_CONFIG_HOME: home })
  expect(config.limits).toEqual({ turns: 9, tokens: 500, ms: 1000 })
})

test('what a conversation may use up is put together one by one, and prices only together', async () => {
  const prices = { input: 1, cached: 0.5, output: 2 }
  const home = configHome({ budget: { tokens: 500, cost: 1 }, prices })
  const flags = { budget: 'cost=2.5', price: 'input=1.25,output=10' }
  const { config, sources } = await loadSettings(flags, { XDG_CONFIG_HOME: home })
  expect(config).toEqual({ budget: { tokens: 500, cost: 2.5 }, prices: { input: 1.25, output: 10 } })
  expect(sources.get('prices')).toBe('--price')
  const unflagged = await loadSettings({}, { XDG_CONFIG_HOME: home, LOOPCHART_BUDGET: 'tokens=7' })
  expect(unflagged.config).toEqual({ budget: { tokens: 7, cost: 1 }, prices })
})

test('flags say how a conversation is kept short and what it goes on from', async () => {
  const flags = { crossRunCursor: true, compactWay: 'model' } as const
  const { config } = await loadSettings(flags, { XDG_CONFIG_HOME: '/nowhere' })
  expect(config).toEqual({ cross_run_cursor: true, compact_way: 'model' })
})

test('a .env file that nobody names is not read', async () => {
  const { config } = await loadSettings({}, { XDG_CONFIG_HOME: '/nowhere' })
  expect(config).toEqual({})
})

test.for([
  ['a flag', { continuity: 'sometimes' }, {}, /must be previous_response_id, stateless or auto$/u],
  ['a limit', { limit: 'turns=0' }, {}, /^--limit: limits\.turns must be at least 1/u],
  ['a limit that is none', { limit: 'turnz=5' }, {}, /^--limit: .*turnz is not an option/u],
  ['a limit that is no number', { limit: 'turns=many' }, {}, /'turns=many' is not a limit/u],
  [
    'a limit that is no whole number',
    { limit: 'turns=1.5' },
    {},
    /^--limit: limits\.turns must be a whole number, 1 or more$/u,
  ],
  [
    'a price that is missing',
    { price: 'input=1' },
    {},
    /^--price: prices\.output must be a number, 0 or more$/u,
  ],
  ['a price that is none', { price: 'free' }, {}, /'free' is not a price; write name=number/u],
  ['a budget', { budget: 'tokens=0.5' }, {}, /^--budget: budget\.tokens must be/u],
  ['a budget of nothing', { budget: 'cost=0' }, {}, /^--budget: budget\.cost must be above 0$/u],
  ['a way to compact', { compactWay: 'magic' }, {}, /^--compact-way: compact_way must be rules/u],
  ['a number', { retries: 'often' }, {}, /^--retries: retries must be a whole number from 0 to 20$/u],
  ['a number that is not whole', { retries: '1.5' }, {}, /retries must be a whole number from 0 to 20$/u],
  ['a number below 0', { retries: '-1' }, {}, /retries must be a whole number from 0 to 20$/u],
  ['a number without a most', { contextWindow: 'all' }, {}, /must be a whole number, 512 or more$/u],
  ['an address', { baseUrl: 'ftp://x' }, {}, /^--base-url: base_url must be an http or https address/u],
  ['a variable', {}, { LOOPCHART_STREAM: 'maybe' }, /^LOOPCHART_STREAM: stream must be true or false$/u],
] as const)('%s with a wrong value is refused by its name', async ([, flags, env, message]) => {
  const loading = loadSettings(flags, { XDG_CONFIG_HOME: '/nowhere', ...env })
  await expect(loading).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(message) })
})

test.for([
  [
    'a field of another type',
    { limits: { turns: 'many' } },
    /json: limits\.turns must be a whole number, 1/u,
  ],
  ['a list where there is none', { model: ['m'] }, /config\.json: model must be a string/u],
  ['a text that is empty', { model: '' }, /config\.json: model must not be empty/u],
  ['an unknown field', { modle: 'x' }, /config\.json: modle is not an option/u],
  ['a key that has no place there', { api_key: 'sk-1' }, /config\.json: api_key is not an option/u],
  ['no JSON', '{"model":', /config\.json: it is not JSON/u],
] as const)('a config file with %s is refused with the path of the field', async ([, config, message]) => {
  const reading = readConfigFile(configPath({ XDG_CONFIG_HOME: configHome(config) }))
  await expect(reading).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringMatching(message),
  })
})

test('the schema of the config file is the one that files are held to', () => {
  const schema = readFileSync(new URL('../../schemas/config/config.v1.json', import.meta.url), 'utf8')
  expect(JSON.parse(schema)).toEqual(z.toJSONSchema(configShape))
})

const AT_OPENAI = { XDG_CONFIG_HOME: '/nowhere', OPENAI_API_KEY: 'sk-openai-key' }

test('the key of the environment goes to OpenAI and to the base URL of the environment', async () => {
  expect((await loadSettings({}, AT_OPENAI)).apiKey).toBe('sk-openai-key')
  const there = { ...AT_OPENAI, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
  expect((await loadSettings({}, there)).apiKey).toBe('sk-openai-key')
})

test('the key of the environment does not go to a base URL that a flag names', async () => {
  const { apiKey, apiKeySource } = await loadSettings({ baseUrl: 'http://127.0.0.1:9/v1' }, AT_OPENAI)
  expect([apiKey, apiKeySource]).toEqual([null, 'not used: OPENAI_API_KEY is for OpenAI or OPENAI_BASE_URL'])
  const router = { ...AT_OPENAI, OPENROUTER_API_KEY: 'or-key' }
  expect((await loadSettings({ baseUrl: 'https://openrouter.ai/api/v1' }, router)).apiKey).toBe('or-key')
})

test('a key file goes to the base URL beside it and below it, not to one above', async () => {
  const keyFile = join(makeFolder({ key: 'file-key-123\n' }), 'key')
  const home = configHome({ base_url: 'https://host.example/v1', api_key_file: keyFile })
  const env = { XDG_CONFIG_HOME: home }
  expect((await loadSettings({}, env)).apiKey).toBe('file-key-123')
  expect((await loadSettings({ baseUrl: 'http://127.0.0.1:9/v1' }, env)).apiKey).toBe(null)
  const flags = { baseUrl: 'http://127.0.0.1:9/v1', apiKeyFile: keyFile }
  expect((await loadSettings(flags, { ...env, ...AT_OPENAI, XDG_CONFIG_HOME: home })).apiKey).toBe(
    'file-key-123',
  )
})

test('a key file that holds no key is refused without showing what it holds', async () => {
  const apiKeyFile = join(makeFolder({ key: 'two words' }), 'key')
  const loading = loadSettings({ apiKeyFile }, { XDG_CONFIG_HOME: '/nowhere' })
  await expect(loading).rejects.toMatchObject({
    code: 'usage',
    message: expect.not.stringContaining('words'),
  })
})

test('a config file may begin with the mark that some editors put there', async () => {
  const home = configHome('\uFEFF{"model":"m"}')
  expect((await loadSettings({}, { XDG_CONFIG_HOME: home })).config.model).toBe('m')
})
