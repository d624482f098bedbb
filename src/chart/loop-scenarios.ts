import type { LoopInput, LoopLimits, LoopSettings } from '../../machines/loop.types.ts'
import type { AnyItem } from '../protocol/items.ts'
import type { LoopScenario } from './loop-cases.ts'
import { ASKED, asks, but, CUT_SHORT, declines, failure, says, WRONG_FORMAT } from './response-cases.ts'

const LIMITS: LoopLimits = { turns: 4, toolCalls: 20, tokens: null, noProgress: 9, callsPerResponse: 8 }

const SETTINGS: LoopSettings = {
  limits: LIMITS,
  onLimit: 'stop',
  onIncomplete: 'stop',
  mode: 'previous_response_id',
  fallbackModes: [],
  maySwitchMode: false,
  toolExecution: 'sequential',
  maxConcurrency: 1,
  retriesMax: 2,
  repairsMax: 0,
  followUpMessage: null,
  continueMessage: 'go on',
  compactAtTokens: null,
  compactAtItems: null,
}

const RETRY = { retryAt: 1_700_000_060_000 }
const RATE_LIMITED = failure('rate_limited', RETRY)
const FATAL = failure('invalid_request')
const UNSUPPORTED = failure('unsupported_parameter', { isContinuity: true })
const LOST = failure('previous_response_not_found', { isContinuity: true, isLost: true })
const UNSURE = { readOnly: false, idempotent: false, conflicts: [] }
const EACH_TIME = { ...ASKED, isEachTime: true }
const REFUSED = { outcome: 'unknown_tool', message: 'there is no such tool' } as const

/** Runs with different settings which together take every transition of the chart. */
export const LOOP_SCENARIOS: readonly [LoopScenario, ...LoopScenario[]] = [
  scenario('one call after another', {
    responses: [says, declines, asks({})],
    failures: [RATE_LIMITED, FATAL],
    cutIns: ['cancel', 'steer', 'deadline', 'bug', 'crash', 'stranger'],
    settings: { retriesMax: 1 },
  }),
  scenario('calls that need a yes', {
    responses: [says, asks({ approval: ASKED }, {}, { approval: ASKED })],
    cutIns: ['cancel', 'stranger'],
    settings: { followUpMessage: 'here is what they gave' },
  }),
  scenario('a crash while a call waits for its yes', {
    responses: [asks({}, { approval: ASKED })],
    cutIns: ['cancel', 'steer', 'crash'],
  }),
  scenario('two calls in a row that need a yes', {
    responses: [asks({ approval: ASKED }, { approval: ASKED })],
    cutIns: ['deadline'],
    settings: { mode: 'stateless' },
  }),
  scenario('answers that hold for the rest of the run', {
    responses: [asks({ approval: ASKED }, { approval: EACH_TIME }, { approval: ASKED })],
    turnsExplored: 2,
    cutIns: ['remember', 'crash'],
    limits: { turns: 3 },
  }),
  scenario('calls of every disposition', {
    responses: [
      asks({}, { disposition: 'duplicate', callIdOf: 0 }, { disposition: 'truncated' }),
      asks({ disposition: 'bad_arguments' }, { tool: null, refusal: REFUSED, approval: ASKED }, {}),
      asks({ maxCalls: 1 }, { maxCalls: 1 }, {}, {}),
      asks({ disposition: 'duplicate' }),
    ],
    turnsExplored: 2,
    limits: { callsPerResponse: 3 },
  }),
  scenario('batches', {
    responses: [
      asks({ readOnly: true }, { idempotent: true, conflicts: ['disk'] }, { ...UNSURE, conflicts: ['disk'] }),
      asks({ readOnly: true }, { readOnly: true }, { readOnly: true }, UNSURE),
    ],
    cutIns: ['cancel', 'bug'],
    settings: { toolExecution: 'parallel', maxConcurrency: 2 },
  }),
  scenario('batches that are cut off', {
    responses: [
      asks(UNSURE, { ...UNSURE, conflicts: ['net'] }),
      asks({ readOnly: true, conflicts: [] }, UNSURE, { ...UNSURE, approval: ASKED }),
    ],
    cutIns: ['cancel', 'crash'],
    settings: { toolExecution: 'parallel', maxConcurrency: 3 },
  }),
  scenario('requests that fail', {
    responses: [says, asks({}, {}), but(asks({}), { responseId: null })],
    failures: [RATE_LIMITED, failure('server_error', { ...RETRY, retriesMax: 1 }), FATAL],
    turnsExplored: 2,
  }),
  scenario('people who speak while a conversation is made shorter', {
    responses: [asks({})],
    cutIns: ['steer', 'deadline'],
    turnsExplored: 2,
    settings: { compactAtTokens: 10, mode: 'stateless' },
  }),
  ...(['stop', 'wrap_up'] as const).flatMap((onLimit) => [
    scenario(`a limit of turns, then ${onLimit}`, {
      responses: [says, asks({ approval: ASKED }, {}), but(says, WRONG_FORMAT)],
      failures: [RATE_LIMITED, FATAL],
      limits: { turns: 1 },
      cutIns: ['cancel', 'steer', 'deadline', 'crash'],
      settings: { onLimit, retriesMax: 1 },
    }),
    scenario(`a limit of calls, then ${onLimit}`, {
      responses: [says, asks({}), asks({ disposition: 'duplicate' }, {}, {})],
      turnsExplored: 3,
      limits: { toolCalls: 2, callsPerResponse: 2 },
      settings: { onLimit },
    }),
    scenario(`a limit of tokens, then ${onLimit}`, {
      responses: [asks({})],
      turnsExplored: 3,
      limits: { tokens: 15 },
      settings: { onLimit },
    }),
    scenario(`a limit of tokens that a compaction uses up, then ${onLimit}`, {
      responses: [asks({})],
      turnsExplored: 2,
      limits: { tokens: 30 },
      cutIns: ['cancel', 'crash'],
      settings: { onLimit, compactAtTokens: 10 },
    }),
    scenario(`a run in circles, then ${onLimit}`, {
      responses: [asks({})],
      turnsExplored: 3,
      limits: { noProgress: 2, turns: 3, toolCalls: 3 },
      cutIns: ['crash'],
      settings: { onLimit },
    }),
  ]),
  scenario('a response that was cut short', {
    responses: [but(says, CUT_SHORT), but(asks({ disposition: 'truncated' }), CUT_SHORT)],
  }),
  scenario('a response that was cut short and may go on', {
    responses: [but(says, CUT_SHORT), but(asks({ disposition: 'truncated' }), CUT_SHORT), says],
    turnsExplored: 2,
    cutIns: ['steer'],
    settings: { onIncomplete: 'continue' },
  }),
  scenario('an answer of the wrong format', {
    responses: [but(says, WRONG_FORMAT), asks({}), but(says, { output: { sum: 5 } })],
    turnsExplored: 3,
    cutIns: ['steer'],
    settings: { repairsMax: 1 },
  }),
  scenario('a long conversation', {
    responses: [says, asks({})],
    turnsExplored: 2,
    cutIns: ['cancel', 'bug', 'crash'],
    settings: { compactAtTokens: 10 },
  }),
  scenario('a provider that forgets', {
    responses: [says, asks({}), but(asks({}), { responseId: null })],
    failures: [LOST, UNSUPPORTED, RATE_LIMITED],
    turnsExplored: 2,
    settings: { maySwitchMode: true },
  }),
  scenario('a provider that loses responses', {
    responses: [says, asks({}), but(asks({}), { responseId: null })],
    failures: [LOST, UNSUPPORTED, RATE_LIMITED],
    turnsExplored: 2,
    cutIns: ['crash'],
  }),
  ...[true, false].map((maySwitchMode) =>
    scenario(`a run that goes on from another, ${maySwitchMode ? 'in any way' : 'by id'}`, {
      responses: [says, asks({})],
      failures: [LOST, UNSUPPORTED],
      turnsExplored: 2,
      cursor: { responseId: 'resp_before', knownItems: 2 },
      settings: { maySwitchMode },
    }),
  ),
  scenario('a conversation of many items', {
    responses: [asks({})],
    turnsExplored: 3,
    settings: { compactAtItems: 6 },
  }),
  scenario('models that take over from each other', {
    responses: [says, asks({})],
    failures: [failure('provider_unavailable', { isFallback: true }), RATE_LIMITED],
    turnsExplored: 2,
    cutIns: ['crash'],
    settings: { retriesMax: 1, fallbackModes: ['previous_response_id', 'stateless'] },
  }),
]

interface ScenarioChange extends Partial<Omit<LoopScenario, 'name' | 'input'>> {
  readonly settings?: Partial<LoopSettings>
  readonly limits?: Partial<LoopLimits>
  readonly cursor?: LoopInput['cursor']
}

function scenario(name: string, { settings, limits, cursor, ...change }: ScenarioChange): LoopScenario {
  const known = Array.from({ length: cursor?.knownItems ?? 0 }, (_, at) => message(`before ${at}`))
  const input: LoopInput = {
    items: [...known, message('hello')],
    settings: { ...SETTINGS, ...settings, limits: { ...LIMITS, ...limits } },
    deadlineAt: 1_700_000_600_000,
    wallTimeMs: 600_000,
    cursor: cursor ?? null,
  }
  return { name, input, responses: [says], turnsExplored: 1, failures: [], cutIns: [], ...change }
}

function message(text: string): AnyItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}
