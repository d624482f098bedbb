import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { formatFrame } from '../../../src/frames/format-frame.ts'
import { FrameStamp } from '../../../src/frames/frame-stamp.ts'
import type { Frame } from '../../../src/frames/generated/frame.ts'
import { FrameDecoder, FrameEncoder } from '../../../src/journal/frame-codec.ts'
import { deltaFrame, eventFrame, requestFrame, sampleLog } from '../../journal/sample-frames.ts'

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
  return lines.map((line, seq) => decoder.decode(line, seq))
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
  '@not json\t{"v":1,"run_id":"a","seq":0,"ts":0,"type":"warning","cause":"","figures":{}}',
  '@[{"path":["nowhere"],"hash":"x"}]',
  '@[{"path":[{}]}]\t{"v":1,"run_id":"a","seq":0,"ts":0,"type":"warning","cause":"","figures":{}}',
  '',
])('a line that no encoder writes is refused by name: %s', (line) => {
  expect(() => decodeAll({ lines: [line], texts: new Map() })).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^(?:log_corrupt|frame_invalid)$/u) }),
  )
})
