import { stat } from 'node:fs/promises'

import { LoopchartError } from '../errors.ts'
import { DEFAULT_LIMITS } from '../loop/agent.ts'
import { resolveContinuity } from '../loop/continuity.ts'
import { loadStrict } from '../protocol/load-strict.ts'
import { profileFor, PROFILES, type ProviderProfile } from '../provider/profiles.ts'
import type { Config } from './config-file.ts'
import type { Finding } from './departures.ts'
import { ExitCode } from './exit-code.ts'
import { createProbeClient } from './probe-client.ts'
import { probeProvider } from './probe-provider.ts'
import { Redactor } from '../frames/redactor.ts'
import { oneLine, shorten } from './safe-text.ts'
import { listSecrets } from './secrets.ts'
import { loadSettings, SETTINGS, type SettingFlags, type Settings } from './settings.ts'
import { lookAround, type Surrounding } from './surroundings.ts'
import { tableOf } from './table-of.ts'

export interface DoctorFlags extends SettingFlags {
  readonly workspace?: string
  readonly json?: true
}

/** One setting as doctor shows it. */
interface SettingRow {
  readonly setting: string
  readonly value: string
  readonly source: string
}

const PROBE_MS_MAX = 180_000
const DETAIL_MAX = 300

/** Shows what is set, and probes a provider that a flag names; resolves with the exit code. */
export async function doctor(flags: DoctorFlags): Promise<number> {
  const settings = await loadSettings(flags, process.env)
  const redactor = new Redactor(listSecrets(settings))
  const rows = await settingRows(settings, redactor, await lookAround(flags.workspace ?? '.'))
  const isProbe = flags.baseUrl !== undefined
  if (isProbe && settings.config.model === undefined) {
    throw new LoopchartError(
      'provider_missing',
      'to probe a provider, give --model too; loopchart models lists what there is',
    )
  }
  if (flags.json !== true) {
    const table = rows.map(({ setting, value, source }) => [setting, value, source])
    process.stdout.write(tableOf(['setting', 'value', 'source'], table))
  }
  const findings = isProbe ? await probe(settings, redactor) : null
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify({ settings: rows, findings }, null, 2)}\n`)
  } else if (findings !== null) {
    const table = findings.map(({ topic, verdict, detail }) => [topic, verdict, detail])
    process.stdout.write(`\n${tableOf(['point', 'verdict', 'what was seen'], table)}`)
  }
  return ExitCode.ok
}

async function probe({ config, apiKey }: Settings, redactor: Redactor): Promise<readonly Finding[]> {
  const { base_url: baseUrl = '', model = '' } = config
  const signal = AbortSignal.timeout(PROBE_MS_MAX)
  const send = createProbeClient({ baseUrl, apiKey: apiKey ?? '', profile: await loadStrict(), signal })
  const findings = await probeProvider(send, model)
  return findings.map(({ topic, verdict, detail }) => ({
    topic,
    verdict,
    detail: shorten(oneLine(redactor.text(detail)), DETAIL_MAX),
  }))
}

async function settingRows(
  settings: Settings,
  redactor: Redactor,
  surroundings: readonly Surrounding[],
): Promise<readonly SettingRow[]> {
  const { config, sources, apiKey, apiKeySource, configPath } = settings
  const profile = profileFor(config.base_url ?? PROFILES.openai.baseUrl ?? '')
  const defaults = defaultsOf(config, apiKey, profile)
  const rows = SETTINGS.map(({ key }): SettingRow => {
    const value = config[key]
    const isDefault = value === undefined
    const shown = key === 'limits' ? { ...DEFAULT_SHOWN, ...config.limits } : (value ?? defaults[key] ?? null)
    return {
      setting: key,
      value: show(shown),
      source: isDefault ? 'default' : (sources.get(key) ?? 'default'),
    }
  })
  const key = apiKey === null ? 'none' : `[redacted], ${apiKey.length} characters`
  return [
    { setting: 'api_key', value: key, source: apiKeySource ?? 'default' },
    ...rows,
    { setting: 'profile', value: profile.name, source: 'by the base URL' },
    { setting: 'config file', value: configPath, source: (await isThere(configPath)) ? 'read' : 'not there' },
    ...surroundings,
  ].map(({ setting, value, source }) => ({
    setting,
    value: oneLine(redactor.text(value)),
    source: oneLine(redactor.text(source)),
  }))
}

const DEFAULT_SHOWN = { turns: DEFAULT_LIMITS.turns, tool_calls: DEFAULT_LIMITS.toolCalls }

function defaultsOf(config: Config, apiKey: string | null, { canContinueById }: ProviderProfile): Config {
  const { store_responses: store = null, encrypted_reasoning: encryptedReasoning = false } = config
  return {
    continuity: resolveContinuity({ continuity: null, store, encryptedReasoning, canContinueById }).mode,
    stream: true,
    approve: 'ask',
    tools: 'none',
    auto_edit: false,
    allow_unsandboxed: false,
    retries: 4,
    cross_run_cursor: false,
    compact_way: 'rules',
    log_level: 'silent',
    ...(config.base_url === undefined && apiKey !== null ? { base_url: PROFILES.openai.baseUrl ?? '' } : {}),
  }
}

function show(value: unknown): string {
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
