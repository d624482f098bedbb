import { LoopchartError } from '../../errors.ts'
import { isJsonObject } from '../../protocol/json.ts'
import { TOOL_KINDS, type ToolDeclarations, type ToolKind } from './tool-kind.ts'

/**
 * When old calls give way to a summary. `count`: as soon as there are more than are kept. `threshold`: only when, on
 * top of that, all of them together have more tokens than the threshold. `either`: as `count`, and the calls that are
 * kept must also stay within the threshold together; the newest one is kept in any case.
 */
export type ToolHistoryTrigger = (typeof TRIGGERS)[number]

const TRIGGERS = ['count', 'threshold', 'either'] as const

/** Every setting of the tool history; plain data, so that it can be recorded with a run. */
export interface ToolHistoryConfig extends ToolDeclarations {
  /** How many of the newest calls stay as they are; 0 keeps none. */
  readonly recentCallsToKeep: number
  /** In tokens; only more than this is too much. */
  readonly truncationThreshold: number
  /** The most tokens that a summary may have. */
  readonly maxHistorySummaryTokens: number
  /** Whether a summary quotes what went wrong; otherwise it only says how often each tool failed. */
  readonly preserveErrorsVerbatim: boolean
  /** Where the quotation of one error is cut, in code points. */
  readonly errorCharactersMax: number
  readonly trigger: ToolHistoryTrigger
}

/** What a caller may set; the rest are the defaults. */
export interface ToolHistoryOptions extends Partial<ToolHistoryConfig> {
  /** The name that users know `recentCallsToKeep` by in their settings; that one wins when both are given. */
  readonly maxToolHistoryLength?: number
}

/** The settings of a tool history that was given none. */
export const TOOL_HISTORY_DEFAULTS: ToolHistoryConfig = {
  recentCallsToKeep: 6,
  truncationThreshold: 10_000,
  maxHistorySummaryTokens: 500,
  preserveErrorsVerbatim: true,
  errorCharactersMax: 200,
  trigger: 'count',
  kinds: {},
  readOnlyTools: [],
}

/**
 * Lays settings over the defaults. Throws `usage` for a setting that does not exist or has a value that means nothing:
 * one that is silently ignored is worse.
 */
export function readToolHistoryConfig(options: ToolHistoryOptions = {}): ToolHistoryConfig {
  const { maxToolHistoryLength: length, ...given } = withoutUndefined(options)
  const alias = length === undefined ? {} : { recentCallsToKeep: length }
  const config = { ...TOOL_HISTORY_DEFAULTS, ...alias, ...given }
  for (const [name, value] of Object.entries(config)) checkSetting(name, value)
  return config
}

// Settings come from files and spreads, where undefined means that nobody said anything.
function withoutUndefined(options: ToolHistoryOptions): ToolHistoryOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

const CHECKS: ReadonlyMap<string, readonly [isValid: (value: unknown) => boolean, needed: string]> = new Map([
  ['recentCallsToKeep', [isQuantity, 'a whole number, 0 or more']],
  ['truncationThreshold', [isQuantity, 'a whole number, 0 or more']],
  ['maxHistorySummaryTokens', [isQuantity, 'a whole number, 0 or more']],
  ['errorCharactersMax', [isQuantity, 'a whole number, 0 or more']],
  ['preserveErrorsVerbatim', [(value: unknown) => typeof value === 'boolean', 'true or false']],
  ['trigger', [(value: unknown) => TRIGGERS.some((one) => one === value), TRIGGERS.join(', ')]],
  ['kinds', [isKinds, `an object with ${TOOL_KINDS.join(', ')} by the name of the tool`]],
  ['readOnlyTools', [isNames, 'a list of names']],
])

function checkSetting(name: string, value: unknown): void {
  const check = CHECKS.get(name)
  if (check === undefined) throw new LoopchartError('usage', `tool history: ${unknownSetting(name)}`)
  const [isValid, needed] = check
  if (!isValid(value)) throw new LoopchartError('usage', `tool history: ${name} must be ${needed}`)
}

function unknownSetting(name: string): string {
  return name === 'toolHistorySummarizationModel'
    ? 'toolHistorySummarizationModel is not a setting here: give summarizeWith a function that asks the model'
    : `${name} is not a setting`
}

// Infinity says that there is no bound.
function isQuantity(value: unknown): boolean {
  return typeof value === 'number' && (Number.isSafeInteger(value) || value === Infinity) && value >= 0
}

function isKinds(value: unknown): value is Record<string, ToolKind> {
  return isJsonObject(value) && Object.values(value).every((kind) => TOOL_KINDS.some((one) => one === kind))
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}
