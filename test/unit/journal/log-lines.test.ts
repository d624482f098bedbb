import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { formatFrame } from '../../../src/frames/format-frame.ts'
import { FrameStamp } from '../../../src/frames/frame-stamp.ts'
import type { Frame } from '../../../src/frames/generated/frame.ts'
import { makeFrame } from '../../../src/frames/make-frame.ts'
import type { OnLine } from '../../../src/journal/block-encoder.ts'
import { FrameDecoder, FrameEncoder } from '../../../src/journal/frame-codec.ts'
import { EventBlock } from '../../../src/loop/event-block.ts'
import { DeltaForm } from '../../../src/stream/delta-form.ts'
import { deltaFrame, eventFrame, startFrame, stateFrame } from '../../journal/sample-frames.ts'

/** Writes frames and blocks as a store does, what is pending whenever it is told to, and reads all of it back. */
class WrittenLog {
  readonly frames: Frame[] = []
  readonly #lines: string[] = []
  readonly #texts = new Map<string, Uint8Array>()
  #now = 5000
  readonly #stamp = new FrameStamp('run_1', () => this.#now)
  #encoder = new FrameEncoder()
  counted = 0
  #pending: (() => void)[] = []
  #block: EventBlock | null = null
  #blockEnd = 0

  constructor() {
    this.add(startFrame)
  }

  add(make: (stamp: FrameStamp) => Frame): void {
    const frame = make(this.#stamp)
    this.frames.push(frame)
    this.#pending.push(() => {
      const { line, texts } = this.#encoder.encode(frame)
      this.#onLine(line, texts, 1)
    })
  }

  grow(add: (block: EventBlock, stamp: FrameStamp) => void): void {
    if (this.#block?.canTake(this.#stamp) !== true) {
      this.#block = new EventBlock(this.#stamp, 1, 0)
      this.#blockEnd = 0
    }
    const block = this.#block
    const from = this.#blockEnd
    add(block, this.#stamp)
    const to = block.length
    this.#blockEnd = to
    for (let at = from; at < to; at += 1) this.frames.push(block.at(at))
    this.#pending.push(() => this.#encoder.encodeBlock(block, from, to, this.#onLine))
  }

  pass(ms: number): void {
    this.#now += ms
    this.#stamp.tick()
  }

  write(): void {
    const pending = this.#pending
    this.#pending = []
    for (const encode of pending) encode()
  }

  /** As after a crash: what comes is written by somebody who knows nothing of what came before. */
  takeUp(): void {
    this.write()
    this.#encoder = new FrameEncoder()
  }

  seal(): void {
    this.write()
    if (this.#block !== null) EventBlock.seal([this.#block])
    this.#block = null
  }

  readBack(): readonly Frame[] {
    this.write()
    const decoder = new FrameDecoder((hash) => this.#texts.get(hash) ?? null)
    const back: Frame[] = []
    const lines = Buffer.from(this.#lines.join('\n')).toString('utf8').split('\n')
    for (const line of lines) back.push(...decoder.decode(line, back.length))
    return back
  }

  readonly #onLine: OnLine = (line, texts, frames) => {
    this.#lines.push(line)
    this.counted += frames
    for (const { hash, bytes } of texts) this.#texts.set(hash, bytes)
  }
}

/** What there may be in the holes of a form: a number or a text. */
type Hole = 'number' | 'text'

const FORMS: readonly (readonly [form: DeltaForm, holes: readonly Hole[]])[] = [
  [new DeltaForm('response.output_text.delta', ['{"n":', ',"delta":"', '"}'], 1), ['number', 'text']],
  [new DeltaForm('response.output_text.delta', ['{"i":1,"delta":"', '"}'], 0), ['text']],
  [
    new DeltaForm('response.refusal.delta', ['{"delta":"', '","n":', ',"o":"', '"}'], 0),
    ['text', 'number', 'text'],
  ],
  [new DeltaForm('response.reasoning.delta', ['{"o":"', '","delta":"', '"}'], 1), ['text', 'text']],
  // No text of theirs is a frame of its own; in the last two nothing differs at all.
  [new DeltaForm('response.reasoning_text.delta', ['{"n":', '}'], -1), ['number']],
  [new DeltaForm('response.output_text.delta', ['{"i":2}'], -1), []],
  [new DeltaForm('acme.delta', ['{}'], -1), []],
]

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('', '\t', '\n', '\ud800', 'x'.repeat(65_536), 'x'.repeat(65_537), 'é'.repeat(33_000)),
)
const written = text.map((one) => JSON.stringify(one.toWellFormed()).slice(1, -1))
const count = fc.oneof(fc.nat(99), fc.constantFrom(0, 1e15 - 1))

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        at: fc.nat(FORMS.length - 1),
        fillings: fc.array(fc.record({ number: count, text: written }), { minLength: 12, maxLength: 12 }),
        deltas: fc.integer({ min: 1, max: 4 }),
      })
      .map(({ at, fillings, deltas }) => (log: WrittenLog) => {
        const [form, holes] = FORMS[at] ?? []
        if (form === undefined || holes === undefined) throw new Error('there is no such form')
        const filled = Array.from({ length: deltas }, (_, delta) =>
          holes.map((hole, of) => fillings[delta * 3 + of]?.[hole] ?? ''),
        ).flat()
        const place = { item_id: `item_${at}`, output_index: at }
        log.grow((block, stamp) => block.addDeltas(place, form, filled, deltas, stamp))
      }),
  },
  fc.record({ type: fc.constantFrom('a', 'b', 'c\td', '', '\ud800', 'x\ny'), raw: text }).map(
    ({ type, raw }) =>
      (log: WrittenLog) =>
        log.grow((block, stamp) => block.addEvent(type, raw, stamp)),
  ),
  fc.record({ of: fc.nat(4), text }).map(
    ({ of, text }) =>
      (log: WrittenLog) =>
        log.add((stamp) => {
          switch (of) {
            case 0:
              return eventFrame(stamp, text)
            case 1:
              return deltaFrame(stamp, text)
            case 2:
              return stateFrame(stamp, text, 3)
            case 3:
              return makeFrame(stamp, 'refusal_delta', { delta: text, item_id: 'item_2', output_index: 2 })
            default:
              return makeFrame(stamp, 'tool_stdout', { call_id: 'call_1', chunk: text })
          }
        }),
  ),
  fc.constantFrom(1, 5, 1e9).map((ms) => (log: WrittenLog) => log.pass(ms)),
  fc.constantFrom<(log: WrittenLog) => void>(
    (log) => log.write(),
    (log) => log.takeUp(),
    (log) => log.seal(),
  ),
)

test('whatever forms the deltas of a log have, and whenever it is written or taken up, its frames come back', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      const log = new WrittenLog()
      for (const take of steps) take(log)
      expect(log.readBack().map(formatFrame)).toEqual(log.frames.map(formatFrame))
      expect(log.counted).toBe(log.frames.length)
    }),
    { numRuns: 300 },
  )
})

/** A decoder that knows an event of a form, a text and an output. */
function begunDecoder(): (line: string) => readonly Frame[] {
  const stamp = new FrameStamp('run_1', () => 5)
  const encoder = new FrameEncoder()
  const decoder = new FrameDecoder(() => null)
  const output = makeFrame(stamp, 'tool_stdout', { call_id: 'call_1', chunk: 'out' })
  const frames = [startFrame(stamp), eventFrame(stamp, '"raw"'), deltaFrame(stamp, 'text'), output]
  let seq = 0
  for (const frame of frames) seq += decoder.decode(encoder.encode(frame).line, seq).length
  seq += decoder.decode('h\tname\t["a","b","c"]\t1\t2', seq).length
  return (line) => decoder.decode(line, seq)
}

test('a line of several deltas is read as what it says', () => {
  const frames = begunDecoder()('D3\tt1\t1\tx\t2\ty')
  expect(frames.map((frame) => [frame.type, frame.ts])).toEqual([
    ['provider_event', 8],
    ['output_text_delta', 8],
    ['provider_event', 8],
    ['output_text_delta', 8],
  ])
})

test.for([
  ['a time beyond all numbers', 'D1e400\t\t1\t2'],
  ['a time that is no number', 'd0x10\t1\t2'],
  ['a time with more digits than a number has', `t${'9'.repeat(400)}\tx`],
  ['a time that leaves whole numbers', 'n9007199254740992\ta\tb'],
  ['a state at such a time', 's1e400\t1\ta\tb'],
  ['texts of events', 'D\tp1\t1\tx'],
  ['texts that are an output', 'D\to1\t1\tx'],
  ['a text in a hole that there is not', 'D\tt2\t1\tx'],
  ['a text that is none', 'D\tt1\t1\t\\'],
  ['holes that are not filled', 'D\t\t1'],
  ['nothing', 'D\t'],
] as const)('a line that says %s is damage', ([, line]) => {
  expect(() => begunDecoder()(line)).toThrow('repeats a frame that is not there')
})
