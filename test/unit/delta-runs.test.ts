// Deltas that follow each other are read off the stream together. Nothing may show that: each case is read that way, and
// event by event, and held against each other.
import { Buffer } from 'node:buffer'

import { expect, test } from 'vitest'

import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { recordResponse } from '../../src/loop/record-response.ts'
import { strict } from '../../src/protocol/strict.ts'
import { tolerant } from '../../src/protocol/tolerant.ts'
import type { AssembledResponse } from '../../src/stream/assemble-response.ts'
import { DeltaTemplate } from '../../src/stream/delta-template.ts'
import type { StreamLimits } from '../../src/stream/stream-limits.ts'
import { sseText, StreamBuilder, type EventLine } from '../../scripts/fixtures/stream-builder.ts'

interface Seen {
  readonly frames: readonly Frame[]
  readonly response: AssembledResponse
}

function read(
  bytes: Buffer,
  inRuns: boolean,
  limits: Partial<StreamLimits> = {},
  profile = tolerant,
): Seen & { readonly blocks: number } {
  const frames: Frame[] = []
  let blocks = 0
  const reader = recordResponse({
    stamp: new FrameStamp('run_1', () => 1000),
    turn: 1,
    attempt: 0,
    profile,
    shape: 'stream',
    limits,
    onFrame: (frame) => frames.push(frame),
    ...(inRuns && {
      onBlock: (block, added) => {
        blocks += 1
        for (let at = block.length - added; at < block.length; at += 1) frames.push(block.at(at))
      },
    }),
  })
  // All behind the first event at once, or cut so that no two events come together.
  const first = bytes.indexOf('\n\n') + 2
  const cuts = inRuns ? [first] : Array.from({ length: bytes.length }, (_, at) => at)
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    if (!reader.feed(bytes.subarray(from, to))) break
    from = to
  }
  return { frames, response: reader.end(), blocks }
}

const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'note' }
const PLACE = { item_id: 'fc_1', output_index: 0 }
const DELTA = 'response.function_call_arguments.delta'
const CHARS = 9

function callEvents(
  bend: (events: EventLine[]) => readonly EventLine[] = (events) => events,
  word = 'plain',
): Buffer {
  const text = JSON.stringify({
    text: Array.from({ length: 12 }, (_, at) => ` ${word}${at} "quoted" \\`).join(''),
  })
  const stream = new StreamBuilder().start().addItem(0, { ...CALL, arguments: '', status: 'in_progress' })
  for (let at = 0; at < text.length; at += CHARS) {
    stream.event(DELTA, { ...PLACE, delta: text.slice(at, at + CHARS) })
  }
  stream.event('response.function_call_arguments.done', { ...PLACE, arguments: text })
  stream.doneItem(0, { ...CALL, arguments: text, status: 'completed' }).end()
  return Buffer.from(sseText(bend([...stream.events])))
}

function changed(events: EventLine[], at: number, fields: EventLine['data']): readonly EventLine[] {
  return events.map((event, index) =>
    index === at ? { ...event, data: { ...event.data, ...fields } } : event,
  )
}

const MIDDLE = 14

test.for([
  ['all is as it should be', (events: EventLine[]) => events],
  ['a number is left out', (events: EventLine[]) => events.filter((_, at) => at !== MIDDLE)],
  ['a number comes twice', (events: EventLine[]) => changed(events, MIDDLE, { sequence_number: MIDDLE - 1 })],
  ['a number is missing', (events: EventLine[]) => changed(events, MIDDLE, { sequence_number: undefined })],
  ['another item is meant', (events: EventLine[]) => changed(events, MIDDLE, { item_id: 'fc_2' })],
  ['a delta is no text', (events: EventLine[]) => changed(events, MIDDLE, { delta: 7 })],
  ['a delta is empty', (events: EventLine[]) => changed(events, MIDDLE, { delta: '' })],
  ['a field is new', (events: EventLine[]) => changed(events, MIDDLE, { extra: { a: 1 } })],
  [
    'an event of another type comes in between',
    (events: EventLine[]) => events.toSpliced(MIDDLE, 0, { type: 'ping', data: { type: 'ping' } }),
  ],
  [
    'the name is another than the type',
    (events: EventLine[]) => events.map((event, at) => (at === MIDDLE ? { ...event, type: 'other' } : event)),
  ],
  [
    'deltas go on when the arguments are done',
    (events: EventLine[]) => [
      ...events.slice(0, -3),
      ...events.slice(-3, -1),
      ...events.slice(3, 9),
      ...events.slice(-1),
    ],
  ],
] as const)('what is read together is what is read one by one where %s', ([, bend]) => {
  for (const profile of [tolerant, strict]) {
    for (const word of ['plain', '言葉']) {
      const bytes = callEvents(bend, word)
      const { blocks, ...together } = read(bytes, true, {}, profile)
      const { blocks: none, ...alone } = read(bytes, false, {}, profile)
      expect(together).toEqual(alone)
      expect([blocks > 0, none]).toEqual([true, 0])
    }
  }
})

test.for([
  ['arguments', { argumentsBytesMax: 120 }],
  ['events', { eventsMax: 20 }],
  ['bytes of a response', { responseBytesMax: 5000 }],
] as const)('the limit of %s is passed at the same event, read together or one by one', ([, limits]) => {
  const bytes = callEvents()
  const { blocks: _, ...together } = read(bytes, true, limits)
  const { blocks: __, ...alone } = read(bytes, false, limits)
  expect(together).toEqual(alone)
  expect(together.response.error).not.toBeNull()
})

test('a delta that is longer than an event may be ends the reading, in the middle of others', () => {
  const bytes = callEvents((events) => changed(events, MIDDLE, { delta: 'x'.repeat(4000) }))
  const { blocks: _, ...together } = read(bytes, true, { eventBytesMax: 3000 })
  const { blocks: __, ...alone } = read(bytes, false, { eventBytesMax: 3000 })
  expect(together).toEqual(alone)
  expect(together.response.error?.code).toBe('event_too_large')
})

test('a stream that breaks off inside a delta, or has other line ends, is read the same', () => {
  const whole = callEvents()
  const half = whole.subarray(0, Math.floor(whole.length / 2))
  const crlf = Buffer.from(whole.toString('utf8').replaceAll('\n', '\r\n'))
  for (const bytes of [half, crlf]) {
    const { blocks: _, ...together } = read(bytes, true)
    const { blocks: __, ...alone } = read(bytes, false)
    expect(together).toEqual(alone)
  }
})

const EVENT = { type: DELTA, sequence_number: 3, item_id: 'fc_1', output_index: 0, delta: 'a' }

function line(number: number, delta: string): string {
  return `event: ${DELTA}\ndata: ${JSON.stringify({ ...EVENT, sequence_number: number, delta })}\n\n`
}

test('a run ends where the next event is not of its form, and is as long as it may be', () => {
  const template = DeltaTemplate.learn(EVENT, JSON.stringify(EVENT))
  const stream = `${line(4, 'b')}${line(5, '"\\n')}${line(7, 'd')}`
  const run = template?.readRun(stream, 0, 3, 10)
  expect(run).toEqual({
    count: 2,
    fillings: [4, 'b', 5, '\\"\\\\n'],
    text: 'b"\\n',
    end: line(4, 'b').length + line(5, '"\\n').length,
  })
  expect(template?.readRun(stream, 0, 3, 1)?.count).toBe(1)
  for (const [from, last] of [
    [1, 3],
    [0, 4],
    [0, null],
  ] as const)
    expect(template?.readRun(stream, from, last, 10)).toBeNull()
})

test('the fields in which deltas of a run differ are held to their type alone, so that one check is one for all', async () => {
  const { default: schema } = await import(
    '../../schemas/openresponses/2026-04-24/components/ResponseFunctionCallArgumentsDeltaStreamingEvent.json',
    { with: { type: 'json' } }
  )
  const held = (['sequence_number', 'delta', 'obfuscation'] as const).map((name) => {
    const { description: _, ...rest } = schema.properties[name]
    return rest
  })
  expect(held).toEqual([{ type: 'integer' }, { type: 'string' }, { type: 'string' }])
})
