import { addUsage } from '../../../../machines/call.rules.ts'
import { NO_USAGE } from '../../../../machines/loop.rules.ts'
import type { TokenUsage } from '../../../../machines/loop.types.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import { settledUsage } from './attempts.ts'
import { fieldsOf, listIn, numberIn, textIn } from './json-fields.ts'
import { lastSeen } from './seen-records.ts'
import { usageIn } from './usage-in.ts'

/** What a run had used up when something was added to it. */
export interface UsagePoint {
  readonly seq: number
  readonly turn: number
  /** What used it: `response`, `call`, `compaction`, `stopping`, or `run` in the log of a conversation. */
  readonly source: string
  readonly added: TokenUsage
  readonly total: TokenUsage
  /** In the currency of the prices; null as long as nobody named any. */
  readonly cost: number | null
}

/** What a run may use up; null: as much as it likes, or the log does not say. */
interface RunLimits {
  readonly turns: number | null
  readonly toolCalls: number | null
  readonly tokens: number | null
  readonly cost: number | null
  readonly wallTimeMs: number | null
}

const NO_LIMITS: RunLimits = { turns: null, toolCalls: null, tokens: null, cost: null, wallTimeMs: null }

/** What was used up in the course of a run, and what it was allowed. */
export class UsageSeries {
  readonly #points: UsagePoint[] = []
  #limits: RunLimits = NO_LIMITS

  get points(): readonly UsagePoint[] {
    return this.#points
  }

  get limits(): RunLimits {
    return this.#limits
  }

  /** Takes a frame in. */
  add(seq: number, type: string, fields: JsonObject, turn: number): void {
    switch (type) {
      case 'run_started':
        this.#limits = runLimits(fields)
        break
      case 'conversation_started':
        this.#limits = conversationLimits(fieldsOf(fields['settings']))
        break
      case 'response_settled':
        this.#use(seq, turn, 'response', settledUsage(fields))
        break
      case 'tool_ended':
      case 'tool_failed':
        this.#use(seq, turn, 'call', usageIn(fields['usage']))
        break
      case 'effect_settled':
        this.#effect(seq, turn, fields)
        break
      case 'conversation_run_ended':
        this.#use(seq, turn, 'run', usageIn(fields['usage']), numberIn(fields, 'cost'))
        break
      default:
    }
  }

  #effect(seq: number, turn: number, fields: JsonObject): void {
    switch (textIn(fields, 'id')) {
      case 'compact':
        this.#use(seq, turn, 'compaction', usageIn(fieldsOf(fields['value'])['usage']))
        break
      case 'drain':
        for (const drained of listIn(fields, 'value')) {
          this.#use(seq, turn, 'stopping', usageIn(fieldsOf(drained)['usage']))
        }
        break
      case null:
      default:
    }
  }

  #use(
    seq: number,
    turn: number,
    source: string,
    added: TokenUsage | null,
    cost: number | null = null,
  ): void {
    if (added === null) return
    const last = this.#points.at(-1)
    this.#points.push({
      seq,
      turn,
      source,
      added,
      total: addUsage(last?.total ?? NO_USAGE, added),
      cost: cost === null ? (last?.cost ?? null) : (last?.cost ?? 0) + cost,
    })
  }
}

/** What had been used up by a frame. */
export function usageAt(
  { points }: Pick<UsageSeries, 'points'>,
  at: number,
): Pick<UsagePoint, 'total' | 'cost'> {
  return lastSeen(points, at) ?? { total: NO_USAGE, cost: null }
}

function runLimits(fields: JsonObject): RunLimits {
  const limits = fieldsOf(fields['limits'])
  const [ts, deadline] = [numberIn(fields, 'ts'), numberIn(fields, 'deadline_at')]
  return {
    turns: numberIn(limits, 'turns'),
    toolCalls: numberIn(limits, 'toolCalls'),
    tokens: numberIn(limits, 'tokens'),
    cost: null,
    wallTimeMs: numberIn(limits, 'wall_time_ms') ?? (ts === null || deadline === null ? null : deadline - ts),
  }
}

function conversationLimits(settings: JsonObject): RunLimits {
  return { ...NO_LIMITS, tokens: numberIn(settings, 'tokensMax'), cost: numberIn(settings, 'costMax') }
}
