import { Buffer } from 'node:buffer'

import * as fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'

import type { FrameBlock } from '../../../src/frames/frame-block.ts'
import { FrameStamp } from '../../../src/frames/frame-stamp.ts'
import type { Frame } from '../../../src/frames/generated/frame.ts'
import type { FrameLog } from '../../../src/journal/frame-log.ts'
import { MemoryJournal } from '../../../src/journal/memory-journal.ts'
import { EventBlock } from '../../../src/loop/event-block.ts'
import { recordResponse } from '../../../src/loop/record-response.ts'
import { tolerant } from '../../../src/protocol/tolerant.ts'
import { run } from '../../../src/loop/run.ts'
import { agent } from '../../../src/agent.ts'
import { collect } from '../../journal/store-kit.ts'
import { everythingElse, scriptedModel } from '../../scripted-model.ts'
import { ManualClock } from '../../manual-clock.ts'
import { sseText, StreamBuilder } from '../../../scripts/fixtures/stream-builder.ts'

/** Reads bytes in pieces, a millisecond apart; with a log that takes blocks, or frame by frame. */
function record(bytes: Buffer, pieceBytes: number, takesBlocks: boolean): readonly Frame[] {
  return recordLog(bytes, pieceBytes, takesBlocks).frames
}

function recordLog(bytes: Buffer, pieceBytes: number, takesBlocks: boolean): FrameLog {
  let now = 1000
  const journal = new MemoryJournal(new ManualClock())
  const blocks = new Set<FrameBlock>()
  const reader = recordResponse({
    stamp: new FrameStamp('run_1', () => now),
    turn: 1,
    attempt: 0,
    profile: tolerant,
    shape: 'stream',
    onFrame: (frame) => journal.observe(frame),
    ...(takesBlocks && {
      onBlock: (block: FrameBlock, added: number) => {
        blocks.add(block)
        journal.observeBlock(block, added)
      },
    }),
  })
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    reader.feed(bytes.subarray(at, at + pieceBytes))
    now += 1
  }
  reader.end()
  if (takesBlocks && blocks.size === 0) throw new Error('nothing came as a block')
  return journal.log
}

/** The same once its blocks are sealed, which is some microtasks after the end. */
async function recordSealed(bytes: Buffer, pieceBytes: number): Promise<FrameLog> {
  const log = recordLog(bytes, pieceBytes, true)
  await new Promise((resolve) => setImmediate(resolve))
  return log
}

function answer(pieces: readonly string[], extra: object = {}): Buffer {
  const builder = new StreamBuilder().start().message(0, pieces).end()
  const events = builder.events.map(({ type, data }) =>
    type.endsWith('.delta') ? { type, data: { ...data, ...extra } } : { type, data },
  )
  return Buffer.from(sseText(events))
}

const WORDS = Array.from({ length: 700 }, (_, at) => (at % 50 === 0 ? `"${at}"\n\\ é 言葉 ` : ` word${at}`))

test.for([[1], [7], [300], [16_384], [10_000_000]])(
  'a log that keeps deltas in blocks has the frames of one that does not, in pieces of %i bytes',
  ([pieceBytes = 1]) => {
    const bytes = answer(WORDS, { obfuscation: 'a random text of some length', logprobs: [] })
    expect(record(bytes, pieceBytes, true)).toEqual(record(bytes, pieceBytes, false))
  },
)

test('blocks and frames are the same log for any text and any chunking', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 3, maxLength: 40 })
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 2000 }), (words, pieceBytes) => {
      const bytes = answer(words)
      expect(record(bytes, pieceBytes, true)).toEqual(record(bytes, pieceBytes, false))
    }),
    { numRuns: 150 },
  )
})

test('a sealed log has the same frames, read at once or one by one from either end', async () => {
  const words = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 3, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(words, fc.integer({ min: 1, max: 4000 }), async (texts, pieceBytes) => {
      const bytes = answer(texts)
      const frames = record(bytes, pieceBytes, false)
      const log = await recordSealed(bytes, pieceBytes)
      expect(log.frames).toEqual(frames)
      for (let seq = frames.length - 1; seq >= 0; seq -= 1) {
        expect(log.slice(seq, seq + 1)).toEqual([frames[seq]])
      }
    }),
    { numRuns: 100 },
  )
})

test.for([[1], [300], [16_384], [10_000_000]])(
  'what is in several blocks and more than ASCII is sealed as it was, in pieces of %i bytes',
  async ([pieceBytes = 1]) => {
    const bytes = answer(WORDS, { obfuscation: 'a random text of some length', logprobs: [] })
    expect((await recordSealed(bytes, pieceBytes)).frames).toEqual(record(bytes, pieceBytes, false))
  },
)

test('the blocks of a response that is left are sealed as well', async () => {
  const seal = vi.spyOn(EventBlock, 'seal')
  onTestFinished(() => seal.mockRestore())
  const model = scriptedModel([
    (request) => {
      request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      const bytes = answer(WORDS.slice(0, 20))
      request.onChunk(bytes.subarray(0, bytes.length / 2))
      return new Promise((resolve) => request.signal.addEventListener('abort', () => resolve(null)))
    },
  ])
  const live = run(agent({ model, clock: new ManualClock() }), 'go')
  const shown: Frame[] = []
  for await (const frame of live) {
    shown.push(frame)
    if (frame.type === 'output_text_delta') void live.cancel('enough')
  }
  await everythingElse()
  expect(seal).toHaveBeenCalledTimes(1)
  expect(await collect(live)).toEqual(shown)
})

test('the blocks of a response are sealed once readers were shown what they have', async () => {
  const seal = vi.spyOn(EventBlock, 'seal')
  onTestFinished(() => seal.mockRestore())
  const journal = new MemoryJournal(new ManualClock())
  const shown: (() => void)[] = []
  const reader = recordResponse({
    stamp: new FrameStamp('run_1', () => 1000),
    turn: 1,
    attempt: 0,
    profile: tolerant,
    shape: 'stream',
    onFrame: (frame) => journal.observe(frame),
    onBlock: (block, added) => journal.observeBlock(block, added),
    whenShown: (work) => shown.push(work),
  })
  reader.feed(answer(['a', ' b']))
  reader.end()
  await new Promise((resolve) => setImmediate(resolve))
  expect(seal).not.toHaveBeenCalled()
  for (const work of shown) work()
  await new Promise((resolve) => setImmediate(resolve))
  expect(seal).toHaveBeenCalledTimes(1)
})

test('escapes stay as the provider wrote them', () => {
  const bytes = answer(['one', ' two', ' three', ' four'])
  const escaped = Buffer.from(bytes.toString().replaceAll('" three"', String.raw`" \u0074hr\/ee"`))
  const raws = record(escaped, 4096, true).flatMap((frame) => ('raw' in frame ? [frame.raw] : []))
  expect(raws.filter((raw) => raw?.includes(String.raw`\u0074hr\/ee`))).toHaveLength(1)
  expect(record(escaped, 4096, true)).toEqual(record(escaped, 4096, false))
})

test('an event that something is to be said about is a frame of its own, and the deltas after it go on', () => {
  const events = new StreamBuilder().start().message(0, WORDS.slice(0, 20)).end().events
  // A number that comes twice.
  const odd = events.map(({ type, data }, at) => ({
    type,
    data: at === 12 ? { ...data, sequence_number: 11 } : data,
  }))
  const bytes = Buffer.from(sseText(odd))
  const frames = record(bytes, 4096, true)
  expect(frames).toEqual(record(bytes, 4096, false))
  const noted = frames.filter((frame) => frame.type === 'provider_event' && frame.anomalies.length > 0)
  expect(noted.length).toBeGreaterThan(0)
})

test('a block holds what was in it when it was shown, whatever is added later', () => {
  const journal = new MemoryJournal(new ManualClock())
  const stamp = new FrameStamp('run_1', () => 1000)
  const reader = recordResponse({
    stamp,
    turn: 1,
    attempt: 0,
    profile: tolerant,
    shape: 'stream',
    onFrame: (frame) => journal.observe(frame),
    onBlock: (block, added) => journal.observeBlock(block, added),
  })
  const bytes = answer(WORDS.slice(0, 100))
  reader.feed(bytes.subarray(0, 9000))
  const before = journal.log.frames
  const first = journal.log.slice(10, 30)
  reader.feed(bytes.subarray(9000))
  expect(journal.log.frames.slice(0, before.length)).toEqual(before)
  expect(journal.log.slice(10, 30)).toEqual(first)
  expect(journal.log.last).toEqual(journal.log.frames.at(-1))
})

test('a block that would go on behind other frames is refused', () => {
  const { log } = new MemoryJournal(new ManualClock())
  const [frame] = record(answer(['a', ' b', ' c']), 4096, false)
  if (frame === undefined) throw new Error('nothing was recorded')
  const block = { length: 1, at: () => frame }
  log.extend(block, 1)
  log.append([frame])
  block.length = 2
  expect(() => log.extend(block, 1)).toThrow('behind other frames')
})

test.for([[3], [8], [15]])(
  'where reading breaks off at event %i, the log has every frame with a number',
  ([at = 3]) => {
    const journal = new MemoryJournal(new ManualClock())
    let events = 0
    const reader = recordResponse({
      stamp: new FrameStamp('run_1', () => 1000),
      turn: 1,
      attempt: 0,
      profile: {
        ...tolerant,
        checkEvent(type, event) {
          events += 1
          if (events === at) throw new Error('a check that is broken')
          return tolerant.checkEvent(type, event)
        },
      },
      shape: 'stream',
      onFrame: (frame) => journal.observe(frame),
      onBlock: (block, added) => journal.observeBlock(block, added),
    })
    // With line ends that are read event by event, so that each of them is checked.
    const bytes = Buffer.from(answer(WORDS.slice(0, 20)).toString().replaceAll('\n', '\r\n'))
    expect(() => reader.feed(bytes)).toThrow('broken')
    const { frames } = journal.log
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, seq) => seq))
    expect(frames.filter(({ type }) => type === 'provider_event')).toHaveLength(at - 1)
  },
)

test('a delta that is a number is no text, sealed or not', async () => {
  const events = new StreamBuilder().start().message(0, ['a', 'b', 'c', 'd']).end().events
  const odd = events.map(({ type, data }, at) =>
    type.endsWith('text.delta') ? { type, data: { ...data, delta: at } } : { type, data },
  )
  const journal = new MemoryJournal(new ManualClock())
  const reader = recordResponse({
    stamp: new FrameStamp('run_1', () => 1000),
    turn: 1,
    attempt: 0,
    profile: { ...tolerant, checkEvent: () => null },
    shape: 'stream',
    onFrame: (frame) => journal.observe(frame),
    onBlock: (block, added) => journal.observeBlock(block, added),
  })
  reader.feed(Buffer.from(sseText(odd)))
  reader.end()
  const before = journal.log.frames
  await new Promise((resolve) => setImmediate(resolve))
  expect(journal.log.frames).toEqual(before)
})

/** A stream in which every other delta has something to be said about: it comes under another name. */
function alternating(count: number): Buffer {
  const words = Array.from({ length: count }, (_, at) => ` word${at}`)
  let deltas = 0
  const text = sseText(new StreamBuilder().start().message(0, words).end().events)
  return Buffer.from(
    text.replaceAll('event: response.output_text.delta\n', (line) => {
      deltas += 1
      return deltas % 2 === 0 ? 'event: another\n' : line
    }),
  )
}

test('blocks that frames come between are packed as they were, however many', async () => {
  const bytes = alternating(60)
  const frames = record(bytes, 10_000_000, false)
  expect(frames.filter((frame) => frame.type === 'provider_event' && frame.anomalies.length > 0).length).toBe(
    30,
  )
  const log = await recordSealed(bytes, 10_000_000)
  expect(log.frames).toEqual(frames)
  for (let seq = frames.length - 1; seq >= 0; seq -= 1) {
    expect(log.slice(seq, seq + 1)).toEqual([frames[seq]])
  }
})

test('what a chunk costs does not grow with the blocks before it', () => {
  const bytes = alternating(400)
  const kept = vi.spyOn(EventBlock.prototype, 'keep')
  onTestFinished(() => kept.mockRestore())
  record(bytes, 200, true)
  const chunks = Math.ceil(bytes.length / 200)
  expect(kept.mock.calls.length).toBeGreaterThan(chunks / 2)
  expect(kept.mock.calls.length).toBeLessThan(chunks * 10)
})
