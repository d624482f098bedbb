import { parseEnv } from 'node:util'

import { LoopchartError } from '../errors.ts'
import { configPath, configShape, describeConfigFault, readConfigFile, type Config } from './config-file.ts'
import { findKey, type ConfigLayer } from './find-key.ts'
import { BUDGET, LIMITS, parseNumbers, PRICES, type NumberList } from './number-option.ts'
import { readNamedFile } from './read-named-file.ts'

/** What the flags say about settings, as the parser of the command line gives it. */
export interface SettingFlags {
  readonly baseUrl?: string
  readonly model?: string
  readonly apiKeyFile?: string
  readonly envFile?: string
  readonly limit?: string
  readonly continuity?: string
  /** False for `--no-stream`. */
  readonly stream?: boolean
  readonly approve?: string
  readonly tools?: string
  readonly autoEdit?: true
  readonly allowUnsandboxed?: true
  readonly retries?: string
  readonly contextWindow?: string
  readonly logLevel?: string
  readonly logFile?: string
  readonly price?: string
  readonly budget?: string
  readonly crossRunCursor?: true
  readonly compactWay?: string
}

/** What is set, and by what. */
export interface Settings {
  readonly config: Config
  /** What each setting came from: a flag, a variable, a file. Settings that nothing set are not in it. */
  readonly sources: ReadonlyMap<string, string>
  readonly apiKey: string | null
  readonly apiKeySource: string | null
  /** The variables of the process over those of the env file. */
  readonly env: Readonly<NodeJS.ProcessEnv>
  readonly configPath: string
}

type Key = Exclude<keyof Config, '$schema'>

interface SettingFact {
  readonly key: Key
  readonly flag: string | null
  /** Null: a variable, which any program that starts this one can set, does not set it. */
  readonly variable: string | null
  readonly kind: 'text' | 'number' | 'switch' | NumberList
}

/** Every setting, and by what names flags and variables set it. */
export const SETTINGS: readonly SettingFact[] = [
  { key: 'base_url', flag: '--base-url', variable: 'OPENAI_BASE_URL', kind: 'text' },
  { key: 'model', flag: '--model', variable: 'LOOPCHART_MODEL', kind: 'text' },
  { key: 'api_key_file', flag: '--api-key-file', variable: 'LOOPCHART_API_KEY_FILE', kind: 'text' },
  { key: 'limits', flag: '--limit', variable: 'LOOPCHART_LIMIT', kind: LIMITS },
  { key: 'continuity', flag: '--continuity', variable: 'LOOPCHART_CONTINUITY', kind: 'text' },
  { key: 'stream', flag: '--no-stream', variable: 'LOOPCHART_STREAM', kind: 'switch' },
  { key: 'approve', flag: '--approve', variable: 'LOOPCHART_APPROVE', kind: 'text' },
  { key: 'tools', flag: '--tools', variable: 'LOOPCHART_TOOLS', kind: 'text' },
  { key: 'auto_edit', flag: '--auto-edit', variable: null, kind: 'switch' },
  { key: 'allow_unsandboxed', flag: '--allow-unsandboxed', variable: null, kind: 'switch' },
  { key: 'policy', flag: null, variable: null, kind: 'text' },
  { key: 'retries', flag: '--retries', variable: 'LOOPCHART_RETRIES', kind: 'number' },
  {
    key: 'context_window',
    flag: '--context-window',
    variable: 'LOOPCHART_CONTEXT_WINDOW',
    kind: 'number',
  },
  { key: 'max_output_tokens', flag: null, variable: 'LOOPCHART_MAX_OUTPUT_TOKENS', kind: 'number' },
  { key: 'reasoning_effort', flag: null, variable: 'LOOPCHART_REASONING_EFFORT', kind: 'text' },
  { key: 'reasoning_summary', flag: null, variable: 'LOOPCHART_REASONING_SUMMARY', kind: 'text' },
  { key: 'verbosity', flag: null, variable: 'LOOPCHART_VERBOSITY', kind: 'text' },
  { key: 'store_responses', flag: null, variable: 'LOOPCHART_STORE_RESPONSES', kind: 'switch' },
  { key: 'encrypted_reasoning', flag: null, variable: 'LOOPCHART_ENCRYPTED_REASONING', kind: 'switch' },
  { key: 'store', flag: '--store', variable: 'LOOPCHART_STORE', kind: 'text' },
  { key: 'prices', flag: '--price', variable: 'LOOPCHART_PRICE', kind: PRICES },
  { key: 'budget', flag: '--budget', variable: 'LOOPCHART_BUDGET', kind: BUDGET },
  {
    key: 'cross_run_cursor',
    flag: '--cross-run-cursor',
    variable: 'LOOPCHART_CROSS_RUN_CURSOR',
    kind: 'switch',
  },
  { key: 'compact_way', flag: '--compact-way', variable: 'LOOPCHART_COMPACT_WAY', kind: 'text' },
  { key: 'log_level', flag: '--log-level', variable: 'LOOPCHART_LOG_LEVEL', kind: 'text' },
  { key: 'log_file', flag: '--log-file', variable: 'LOOPCHART_LOG_FILE', kind: 'text' },
]

const ENV_FILE_BYTES_MAX = 1024 * 1024

/** Puts together what is set: flags before variables, those before the env file, that before the config file. */
export async function loadSettings(
  flags: SettingFlags,
  processEnv: Readonly<NodeJS.ProcessEnv>,
): Promise<Settings> {
  const path = configPath(processEnv)
  const envFile = flags.envFile === undefined ? {} : await readEnvFile(flags.envFile)
  const layers: readonly Layer[] = [
    flagLayer(flags),
    variableLayer(processEnv, ''),
    variableLayer(envFile, ` in ${flags.envFile ?? ''}`),
    { config: await readConfigFile(path), sourceOf: () => path },
  ]
  const sources = new Map<string, string>()
  for (const { key } of SETTINGS) {
    const layer = layers.find(({ config }) => config[key] !== undefined)
    if (layer !== undefined) sources.set(key, layer.sourceOf(key))
  }
  const config = layers.toReversed().reduce<Config>(over, {})
  checkLog(flags, config)
  const env = { ...envFile, ...Object.fromEntries(Object.entries(processEnv).filter(isSet)) }
  const key = await findKey({ config, layers, sources, env })
  return { config, sources, env, configPath: path, ...key }
}

// Of what is set for every run, such as a file in the config, the level of one run may make use.
function checkLog({ logFile }: SettingFlags, { log_level: level }: Config): void {
  if (logFile === undefined || level !== undefined) return
  throw new LoopchartError(
    'usage',
    '--log-file has no effect without a level: add --log-level info, or leave it out',
  )
}

// An empty variable is how a shell says that there is none: it hides no line of the env file.
function isSet([, value]: [string, string | undefined]): boolean {
  return value !== undefined && value !== ''
}

interface Layer extends ConfigLayer {
  readonly sourceOf: (key: Key) => string
}

/** One layer over another; limits and what a conversation may use up are taken one by one, prices only together. */
function over(under: Config, { config }: Layer): Config {
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
  const limits = { ...under.limits, ...config.limits }
  const budget = { ...under.budget, ...config.budget }
  return {
    ...under,
    ...given,
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  }
}

function flagLayer(flags: SettingFlags): Layer {
  const values = {
    base_url: flags.baseUrl,
    model: flags.model,
    api_key_file: flags.apiKeyFile,
    limits: numbersIn(flags.limit, '--limit', LIMITS),
    continuity: flags.continuity,
    // The parser says true for a flag that only ever turns something off.
    stream: flags.stream === false ? false : undefined,
    approve: flags.approve,
    tools: flags.tools,
    auto_edit: flags.autoEdit,
    allow_unsandboxed: flags.allowUnsandboxed,
    retries: flags.retries === undefined ? undefined : readNumber(flags.retries),
    context_window: flags.contextWindow === undefined ? undefined : readNumber(flags.contextWindow),
    log_level: flags.logLevel,
    log_file: flags.logFile,
    prices: numbersIn(flags.price, '--price', PRICES),
    budget: numbersIn(flags.budget, '--budget', BUDGET),
    cross_run_cursor: flags.crossRunCursor,
    compact_way: flags.compactWay,
  }
  return { config: checkLayer(values, flagOf), sourceOf: flagOf }
}

function numbersIn(text: string | undefined, place: string, list: NumberList): unknown {
  return text === undefined ? undefined : parseNumbers(text, place, list)
}

function flagOf(key: Key): string {
  return SETTINGS.find((setting) => setting.key === key)?.flag ?? key
}

function variableLayer(env: Readonly<NodeJS.ProcessEnv>, where: string): Layer {
  const nameOf = (key: Key): string =>
    `${SETTINGS.find((setting) => setting.key === key)?.variable ?? key}${where}`
  const values = SETTINGS.flatMap(({ key, variable, kind }) => {
    const text = variable === null ? undefined : env[variable]
    // An empty variable is how a shell says that there is none.
    if (variable === null || text === undefined || text === '') return []
    return [[key, readVariable(text, kind, variable)] as const]
  })
  return { config: checkLayer(Object.fromEntries(values), nameOf), sourceOf: nameOf }
}

function readVariable(text: string, kind: SettingFact['kind'], variable: string): unknown {
  if (typeof kind === 'object') return parseNumbers(text, variable, kind)
  switch (kind) {
    case 'text':
      return text
    case 'number':
      return readNumber(text)
    case 'switch':
      return SWITCH[text.toLowerCase()] ?? text
  }
}

const SWITCH: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  1: true,
  false: false,
  off: false,
  no: false,
  0: false,
}

function readNumber(text: string): number | string {
  return /^\d+$/u.test(text) ? Number(text) : text
}

function checkLayer(values: object, nameOf: (key: Key) => string): Config {
  const parsed = configShape.safeParse(values)
  if (parsed.success) return parsed.data
  const [first] = parsed.error.issues[0]?.path ?? []
  const setting = SETTINGS.find(({ key }) => key === first)
  const place = setting === undefined ? '' : `${nameOf(setting.key)}: `
  throw new LoopchartError('usage', `${place}${describeConfigFault(parsed.error)}`)
}

async function readEnvFile(path: string): Promise<NodeJS.Dict<string>> {
  const bytes = await readNamedFile(path, ENV_FILE_BYTES_MAX, 'a file with NAME=value lines')
  return parseEnv(bytes.toString('utf8'))
}
