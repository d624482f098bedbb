import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { FrameBlock } from '../../../src/frames/frame-block.ts'
import { formatFrame } from '../../../src/frames/format-frame.ts'
import { FrameStamp } from '../../../src/frames/frame-stamp.ts'
import type { Frame } from '../../../src/frames/generated/frame.ts'
import { tellLine, type OnLine } from '../../../src/journal/block-encoder.ts'
import { FrameDecoder, FrameEncoder } from '../../../src/journal/frame-codec.ts'
import { recordResponse } from '../../../src/loop/record-response.ts'
import { tolerant } from '../../../src/protocol/tolerant.ts'
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

/** Reads a stream in pieces into the lines of its blocks and frames, and into frames alone. */
function recordLines(bytes: Buffer, pieceBytes: number): { stored: Stored; frames: readonly Frame[] } {
  const encoder = new FrameEncoder()
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
        if (isBlocks) tellLine(encoder.encode(frame), onLine)
        else frames.push(frame)
      },
      ...(isBlocks && {
        onBlock: (block: FrameBlock, added: number) =>
          encoder.encodeBlock(block, block.length - added, block.length, onLine),
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
  '@not json\t{"v":1,"run_id":"a","seq":0,"ts":0,"type":"warning","cause":"","figures":{}}',
  '@[{"path":["nowhere"],"hash":"x"}]',
  '@[{"path":[{}]}]\t{"v":1,"run_id":"a","seq":0,"ts":0,"type":"warning","cause":"","figures":{}}',
  '',
])('a line that no encoder writes is refused by name: %s', (line) => {
  expect(() => decodeAll({ lines: [line], texts: new Map() })).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^(?:log_corrupt|frame_invalid)$/u) }),
  )
})
