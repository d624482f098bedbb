import { expect, test, vi } from 'vitest'

import { replay } from '../../src/replay-run.ts'
import { changedFields } from './change-field.ts'
import { readLog, RUN_FIXTURES } from './read-log.ts'

vi.setConfig({ testTimeout: 60_000 })

// What does not count, and why. A field that is here may still be found, where something followed from it.
const NOT_COUNTED: readonly (readonly [RegExp, string])[] = [
  [/ (?:ts|duration_ms)$/u, 'times and durations are the clock’s'],
  [/^run_started (?:deadline_at|limits\.wall_time_ms)$/u, 'the clock’s too, until the time is up'],
  [/^response_settled decision\.error\.retryAt$/u, 'the dice’s, when no other attempt came of it'],
  [/^run_started parent$/u, 'whose work the run was'],
  [/^run_started chart_(?:version|hash)$/u, 'which chart wrote the log; where it went is what is compared'],
  [/^run_started (?:continuity|settings\..+)$/u, 'what was asked for and never needed'],
  [/^request_sent endpoint$/u, 'where the only request to a model went'],
  [
    /^response_headers (?:status|request_id|content_type)$/u,
    'what the provider said and nothing followed from',
  ],
  [
    /^provider_event (?:event_name|raw)$/u,
    'bytes of the provider’s: the name of [DONE], the rest of half an event',
  ],
  [/^response_settled decision\.error\.isFallback$/u, 'the agent’s word, when nobody was asked instead'],
  [
    /^response_settled decision\.response\.calls\[\]\.facts\..+$/u,
    'the tools’ word, when nothing followed from it',
  ],
  [/^warning figures\.body$/u, 'what came instead of a response'],
  [/^tool_std(?:out|err) chunk$/u, 'what a tool printed'],
  [
    /^tool_(?:ended|failed) (?:artifacts|usage|outcome|exit_code|error\.(?:code|message))$/u,
    'what a tool said beside its output',
  ],
  [/^command_received command\.reason$/u, 'why somebody cancelled; no frame repeats it'],
  [/^effect_settled untouched$/u, 'the journal’s word, when the effect was no call'],
  [/^effect_settled value\[\]\.answer\.detail$/u, 'what a tool said beside its output'],
]

test.for(RUN_FIXTURES)('a change of any one field of any one frame of %s that counts is found', (name) => {
  const frames = readLog(name)
  const missed: string[] = []
  for (const [at, frame] of frames.entries()) {
    for (const changed of changedFields(frame)) {
      const place = `${frame.type} ${changed.field}`
      const result = replay(frames.with(at, changed.frame))
      if (result.ok && !NOT_COUNTED.some(([pattern]) => pattern.test(place))) missed.push(`${at}: ${place}`)
      // Never before the change, and for what is made again at the very frame.
      if (!result.ok && result.divergence.seq < at)
        missed.push(`${at}: ${place} found at ${result.divergence.seq}`)
      if (!result.ok && MADE.has(frame.type) && result.divergence.seq !== at)
        missed.push(`${at}: ${place} found late`)
    }
  }
  expect(missed).toEqual([])
})

const MADE: ReadonlySet<string> = new Set([
  'state_entered',
  'output_text_delta',
  'reasoning_delta',
  'retry_scheduled',
  'provider_switched',
  'batch_planned',
  'limit_reached',
  'approval_requested',
  'tool_started',
  'run_resumed',
  'run_ended',
])

// Of these the world may say any number, at any time.
const SEEN = /^(?:response_headers|tool_stdout|provider_event|warning)$/u

test.for(RUN_FIXTURES)('a frame of %s that is left out, doubled or moved is found', (name) => {
  const frames = readLog(name)
  const missed: string[] = []
  for (let at = 1; at < frames.length - 1; at += 1) {
    const [frame, next] = [frames[at], frames[at + 1]]
    if (frame === undefined || next === undefined || SEEN.test(frame.type)) continue
    // Whoever died may have lost what he was about to start.
    const isLosable = frame.type === 'run_resumed' || next.type === 'run_resumed'
    // Calls that run together end in any order.
    const isFree =
      SEEN.test(next.type) || [frame, next].every(({ type }) => /^tool_(?:ended|failed)$/u.test(type))
    const changed = {
      'left out': isLosable ? null : frames.toSpliced(at, 1),
      twice: frames.toSpliced(at, 0, frame),
      moved: isFree ? null : frames.toSpliced(at, 2, next, frame),
    }
    for (const [how, log] of Object.entries(changed)) {
      const isFound = log === null || !replay(log.map((one, seq) => ({ ...one, seq }))).ok
      if (!isFound) missed.push(`${at}: ${frame.type} ${how}`)
    }
  }
  expect(missed).toEqual([])
})
