import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { FrameBlock } from '../../../src/frames/frame-block.ts'
import { formatFrame } from '../../../src/frames/format-frame.ts'
import { FrameStamp } from '../../../src/frames/frame-stamp.ts'
import type { Frame } from '../../../src/frames/generated/frame.ts'
import { tellLine, type OnLine } from '../../../src/journal/block-encoder.ts'
import { FrameDecoder, FrameEncoder } from '../../../src/journal/frame-codec.ts'
import { EventBlock } from '../../../src/loop/event-block.ts'
import { recordResponse } from '../../../src/loop/record-response.ts'
import { tolerant } from '../../../src/protocol/tolerant.ts'
import { DeltaForm } from '../../../src/stream/delta-form.ts'
import { sseText, StreamBuilder } from '../../../scripts/fixtures/stream-builder.ts'
import { deltaFrame, eventFrame, requestFrame, sampleLog, stateFrame } from '../../journal/sample-frames.ts'

interface Stored {
  readonly lines: readonly string[]
  readonly texts: ReadonlyMap<string, Uint8Array>
}

function encodeAll(frames: readonly Frame[]): Stored {
  const encoder = new FrameEncoder()
  const texts = new Map<string, Uint8Array>()
  const lines = frames.map((frame) => {
    const encoded = encoder.encode(frame)
    for (const { hash, bytes } of encoded.texts) texts.set(hash, bytes)
    return encoded.line
  })
  return { lines, texts }
}

function decodeAll({ lines, texts }: Stored): readonly Frame[] {
  const decoder = new FrameDecoder((hash) => texts.get(hash) ?? null)
  const frames: Frame[] = []
  for (const line of lines) frames.push(...decoder.decode(line, frames.length))
  return frames
}

test('every frame comes back as it was, field for field and in their order', () => {
  const frames = sampleLog('run_1')
  const back = decodeAll(encodeAll(frames))
  expect(back).toEqual(frames)
  expect(back.map(formatFrame)).toEqual(frames.map(formatFrame))
})

test('no line holds a line end, whatever the texts hold', () => {
  expect(encodeAll(sampleLog('run_1')).lines.filter((line) => line.includes('\n'))).toEqual([])
})

test('any text of a repeated frame comes back', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (texts) => {
      let ms = 0
      const stamp = new FrameStamp('run_1', () => ms)
      const frames = texts.flatMap((text, at) => {
        ms += at % 3
        stamp.tick()
        return [eventFrame(stamp, text), deltaFrame(stamp, text)]
      })
      expect(decodeAll(encodeAll(frames))).toEqual(frames)
    }),
  )
})

test('a text of more than 64 KiB is kept once, however many frames have it', () => {
  const stamp = new FrameStamp('run_1', () => 0)
  const text = 'y'.repeat(70_000)
  const { lines, texts } = encodeAll([1, 2, 3].map(() => eventFrame(stamp, text)))
  expect(texts.size).toBe(1)
  expect(lines.join('').length).toBeLessThan(2000)
})

test('a frame of a token costs little more than the text that differs', () => {
  const stamp = new FrameStamp('run_1', () => 0)
  const { lines } = encodeAll([eventFrame(stamp, 'first'), eventFrame(stamp, 'second')])
  expect(lines[1]?.length).toBeLessThan(10)
})

/**
 * Reads a stream in pieces into the lines of its blocks and frames, and into frames alone. Every so many times that
 * something comes, another encoder goes on, as when a run is taken up.
 */
function recordLines(
  bytes: Buffer,
  pieceBytes: number,
  encoderEach = Number.POSITIVE_INFINITY,
): { stored: Stored; frames: readonly Frame[] } {
  let told = 0
  let encoder = new FrameEncoder()
  const next = (): FrameEncoder => {
    told += 1
    if (told % encoderEach === 0) encoder = new FrameEncoder()
    return encoder
  }
  const lines: string[] = []
  const texts = new Map<string, Uint8Array>()
  const onLine: OnLine = (line, kept) => {
    lines.push(line)
    for (const one of kept) texts.set(one.hash, one.bytes)
  }
  const frames: Frame[] = []
  const feed = (isBlocks: boolean): void => {
    let now = 5000
    const reader = recordResponse({
      stamp: new FrameStamp('run_1', () => now),
      turn: 2,
      attempt: 1,
      profile: tolerant,
      shape: 'stream',
      onFrame: (frame) => {
        if (isBlocks) tellLine(next().encode(frame), onLine)
        else frames.push(frame)
      },
      ...(isBlocks && {
        onBlock: (block: FrameBlock, added: number) =>
          next().encodeBlock(block, block.length - added, block.length, onLine),
      }),
    })
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      reader.feed(bytes.subarray(at, at + pieceBytes))
      now += at % 3
    }
    reader.end()
  }
  feed(true)
  feed(false)
  return { stored: { lines, texts }, frames }
}

function streamOf(texts: readonly string[]): Buffer {
  const stream = new StreamBuilder().start()
  return Buffer.from(sseText(stream.message(0, texts).message(1, texts).end().events))
}

test('blocks come back as the frames that they stand for, for any text and any chunking', () => {
  const texts = fc.array(fc.string({ unit: 'binary' }), { minLength: 2, maxLength: 20 })
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 4000 }), (words, pieceBytes) => {
      const { stored, frames } = recordLines(streamOf(words.map((word) => word.toWellFormed())), pieceBytes)
      expect(decodeAll(stored).map(formatFrame)).toEqual(frames.map(formatFrame))
      expect(stored.lines.filter((line) => line.includes('\n'))).toEqual([])
    }),
    { numRuns: 150 },
  )
})

/** Events of every kind, of which some come twice, under another name, or with a number for a text. */
function oddStream(words: readonly string[], oddities: readonly number[]): Buffer {
  const stream = new StreamBuilder().start()
  stream.reasoning(0, words, words).message(1, words).refusal(2, words)
  stream.message(3, words).call(4, 'add', ['{', ...words.map((_, at) => ` "${at}": 1,`), '}'])
  const events = stream.end().events.flatMap((event, at) => {
    switch (oddities[at % oddities.length]) {
      case 1:
        return [event, event]
      case 2:
        return [{ ...event, type: 'another' }]
      case 3:
        return [{ ...event, data: { ...event.data, delta: at } }]
      default:
        return [event]
    }
  })
  // Some come later, among those of other items.
  const late = (at: number): number => ((oddities[at % oddities.length] ?? 0) % 5 === 4 ? 40 : 0)
  const places = events.map((_, at) => at + late(at))
  const order = events.map((_, at) => at).toSorted((one, other) => (places[one] ?? 0) - (places[other] ?? 0))
  return Buffer.from(sseText(order.flatMap((at) => events[at] ?? [])))
}

test('whatever a response has, and wherever another encoder goes on, the frames come back', () => {
  const words = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 12 })
  const oddities = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 60 })
  const pieces = fc.integer({ min: 1, max: 20_000 })
  fc.assert(
    fc.property(words, oddities, pieces, fc.integer({ min: 2, max: 60 }), (texts, odd, pieceBytes, each) => {
      const { stored, frames } = recordLines(oddStream(texts, odd), pieceBytes, each)
      expect(decodeAll(stored).map(formatFrame)).toEqual(frames.map(formatFrame))
      expect(stored.lines.filter((line) => line.includes('\n'))).toEqual([])
    }),
    { numRuns: 150 },
  )
})

test('a delta of a block that is too long for a line is kept beside it, and those around it come back', () => {
  const { stored, frames } = recordLines(streamOf(['a', ' b', 'x'.repeat(70_000), ' c', '\td', 'e']), 5000)
  expect(decodeAll(stored)).toEqual(frames)
  expect(stored.texts.size).toBeGreaterThan(0)
  expect(Math.max(...stored.lines.map(({ length }) => length))).toBeLessThan(70_000)
})

test('a delta of a block costs little more than its number and its word', () => {
  const words = Array.from({ length: 100 }, (_, at) => ` word${at}`)
  // So many bytes at once that each delta comes by itself, and all of them together.
  for (const pieceBytes of [200, 1_000_000]) {
    const { stored, frames } = recordLines(streamOf(words), pieceBytes)
    const lines = stored.lines.filter((line) => /^[dDtT]/u.test(line))
    expect(lines.join('\n').length).toBeLessThan(200 * 25)
    expect(decodeAll(stored)).toEqual(frames)
  }
})

test('deltas that come together are one line, each with its text', () => {
  const words = Array.from({ length: 100 }, (_, at) => ` "word"\t${at}`)
  const { stored, frames } = recordLines(streamOf(words), 1_000_000)
  expect(stored.lines.length).toBeLessThan(40)
  expect(frames.length).toBeGreaterThan(400)
  expect(decodeAll(stored)).toEqual(frames)
})

test('states come back, also with a tab in a name', () => {
  const stamp = new FrameStamp('run_1', () => 0)
  const states = [stateFrame(stamp, 'a', 1), stateFrame(stamp, 'b', 2), stateFrame(stamp, 'c\td', 3)]
  const { lines, texts } = encodeAll(states)
  expect(decodeAll({ lines, texts })).toEqual(states)
  expect(lines[1]).toBe('s\t2\ttest\tb')
})

const item = (at: number): string => `{"type":"message","content":"${`line ${at} `.repeat(20)}"}`

test('requests of a stateless run cost what each adds', () => {
  const stamp = new FrameStamp('run_1', () => 0)
  const bodies = Array.from(
    { length: 100 },
    (_, turn) =>
      `{"max_tool_calls":${200 - turn},"input":[${Array.from({ length: turn + 1 }, (__, at) => item(at)).join(',')}]}`,
  )
  const { lines } = encodeAll(bodies.map((body) => requestFrame(stamp, body)))
  expect(Math.max(...lines.slice(1).map(({ length }) => length))).toBeLessThan(600)
})

test.for([0, 999_999_999_999_999, 1e15, Number.MAX_SAFE_INTEGER, 1e20, 1e21, Number.MAX_VALUE])(
  'a state that was entered in turn %d comes back with that turn',
  (turn) => {
    const stamp = new FrameStamp('run_1', () => 0)
    const frames = [1, turn, turn, 2].map((one) => stateFrame(stamp, 'working', one))
    expect(decodeAll(encodeAll(frames))).toEqual(frames)
  },
)

test('a kept text that is missing or changed is damage, not another text', () => {
  const stamp = new FrameStamp('run_1', () => 0)
  const stored = encodeAll([eventFrame(stamp, 'z'.repeat(70_000))])
  const [hash = ''] = stored.texts.keys()
  for (const texts of [new Map<string, Uint8Array>(), new Map([[hash, Buffer.from('other')]])]) {
    expect(() => decodeAll({ ...stored, texts })).toThrow(expect.objectContaining({ code: 'log_corrupt' }))
  }
})

test.for([
  'p\tno frame to repeat',
  'n\tname\tno frame to repeat',
  'd\tno form to fill',
  'h\tname\tnot json\t1',
  's\t1\tby\tno state before',
  'D\t\tno form to fill',
  'P1\t1\t0\tname\tno run before',
  'Z1\t1\t0',
  '@not json\t{"v":1,"run_id":"a","seq":0,"ts":0,"type":"warning","cause":"","figures":{}}',
  '@[{"path":["nowhere"],"hash":"x"}]',
  '@[{"path":[{}]}]\t{"v":1,"run_id":"a","seq":0,"ts":0,"type":"warning","cause":"","figures":{}}',
  '',
])('a line that no encoder writes is refused by name: %s', (line) => {
  expect(() => decodeAll({ lines: [line], texts: new Map() })).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^(?:log_corrupt|frame_invalid)$/u) }),
  )
})

/** Lines behind a frame, an event of a form, and a text. */
function behindOthers(line: string): Stored {
  const stamp = new FrameStamp('run_1', () => 5)
  const { lines } = encodeAll([eventFrame(stamp, '"raw"'), deltaFrame(stamp, 'text')])
  return { lines: [...lines, 'h\tname\t["a","b","c"]\t1\t2', line], texts: new Map() }
}

test('lines of several deltas are the frames that they say', () => {
  const frames = decodeAll(behindOthers(String.raw`D2 t1 3 \u0041 4 b`.replaceAll(' ', '\t')))
  expect(frames.slice(3)).toMatchObject([
    { seq: 3, ts: 7, event_name: 'name', raw: String.raw`a3b\u0041c` },
    { seq: 4, ts: 7, type: 'output_text_delta', delta: 'A' },
    { seq: 5, ts: 7, event_name: 'name', raw: 'a4bbc' },
    { seq: 6, ts: 7, type: 'output_text_delta', delta: 'b' },
  ])
})

test.for([
  'D\t\t1',
  'D\t',
  'D',
  'Dx\t\t1\t2',
  'D\tt2\t1\t2',
  'D\tt\t1\t2',
  'D\tr1\t1\t2',
  'D\ts1\t1\t2',
  'P1\t1\t0',
  'Px\t1\t0\tname\traw',
  'P1\t1e3\t0\tname\traw',
  'Z1\t1',
  'Z1\t1\t0\tname',
])('a line that no encoder writes behind others is refused by name: %s', (line) => {
  expect(() => decodeAll(behindOthers(line))).toThrow(expect.objectContaining({ code: 'log_corrupt' }))
})

test('the first event of a turn and the end of a stream are lines that need nothing before them', () => {
  const { frames } = recordLines(streamOf(['a', 'b']), 1_000_000)
  const run = sampleLog('run_1').slice(0, 1)
  const encoder = new FrameEncoder()
  const [started, ...others] = [...run, ...frames].map((frame) => encoder.encode(frame).line)
  expect(started).toContain('run_started')
  expect(others.find((line) => line.includes('response.created'))).toMatch(
    /^P5000\t2\t1\tresponse\.created\t\{/u,
  )
  expect(others.at(-1)).toMatch(/^Z\d+\t2\t1$/u)
})

/** A block of deltas of some forms, so many of each at a time, and the lines that it is written as. */
function writeDeltas(steps: readonly { form: number; words: readonly string[]; ms: number }[]): {
  readonly stored: Stored
  readonly frames: readonly Frame[]
} {
  const types = ['response.output_text.delta', 'response.refusal.delta', 'response.output_text.delta']
  const forms = types.map(
    (type, at) => new DeltaForm(type, [`{"item_id":"${at}","sequence_number":`, ',"delta":"', '"}'], 1),
  )
  let now = 5000
  const stamp = new FrameStamp('run_1', () => now)
  const first = eventFrame(stamp, 'first')
  const block = new EventBlock(stamp, 2, 1)
  block.addEvent('response.created', '{}', stamp)
  for (const { form: at, words, ms } of steps) {
    const form = forms[at]
    if (form === undefined) throw new Error('there is no such form')
    now += ms
    stamp.tick()
    const fillings = words.flatMap((word, number) => [number, word])
    block.addDeltas({ item_id: String(at), output_index: at }, form, fillings, words.length, stamp)
  }
  const encoder = new FrameEncoder()
  const lines = [encoder.encode(first).line]
  encoder.encodeBlock(block, 0, block.length, (line) => lines.push(line))
  const texts = new Map<string, Uint8Array>()
  return {
    stored: { lines, texts },
    frames: [first, ...Array.from({ length: block.length }, (_, at) => block.at(at))],
  }
}

test('deltas of several forms in one block come back, each with the texts of its own item', () => {
  const step = fc.record({
    form: fc.integer({ min: 0, max: 2 }),
    words: fc.array(fc.stringMatching(/^[a-z ]{0,9}$/u), { minLength: 1, maxLength: 9 }),
    ms: fc.integer({ min: 0, max: 2 }),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
      const { stored, frames } = writeDeltas(steps)
      expect(decodeAll(stored)).toEqual(frames)
    }),
  )
})

test('a line of several deltas does not grow with their number for ever', () => {
  const words = Array.from({ length: 200 }, () => 'x'.repeat(1000))
  const { stored, frames } = writeDeltas([{ form: 0, words, ms: 0 }])
  expect(decodeAll(stored)).toEqual(frames)
  expect(Math.max(...stored.lines.map(({ length }) => length))).toBeLessThan(70_000)
})
