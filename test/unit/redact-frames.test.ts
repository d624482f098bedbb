import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { FrameRedactor } from '../../src/frames/redact-frames.ts'
import { Redactor } from '../../src/frames/redactor.ts'
import type { Frame, OutputTextDeltaFrame, ProviderEventFrame } from '../../src/frames/generated/frame.ts'

const SECRET = 'sk-live-0123456789abcdef'
const ENVELOPE = { v: 1, run_id: 'run_1', ts: 0 } as const

function delta(text: string, seq = 0, outputIndex = 0): OutputTextDeltaFrame {
  return { ...ENVELOPE, seq, type: 'output_text_delta', delta: text, item_id: 'm', output_index: outputIndex }
}

function event(text: string, seq = 0): ProviderEventFrame {
  const type = 'response.output_text.delta'
  return {
    ...ENVELOPE,
    seq,
    type: 'provider_event',
    turn: 1,
    attempt: 0,
    status: 'event',
    event_name: type,
    raw: JSON.stringify({ type, item_id: 'm', output_index: 0, delta: text }),
    errors: [],
    response_errors: [],
    anomalies: [],
  }
}

/** What ends a response, as far as it matters here. */
function settled(text: string): Frame {
  return {
    ...ENVELOPE,
    seq: 99,
    type: 'response_settled',
    items: [{ type: 'message', text }],
  } as unknown as Frame
}

function redactAll(frames: readonly Frame[], secrets: readonly string[] = [SECRET]): readonly Frame[] {
  const redactor = new FrameRedactor(new Redactor(secrets))
  return [...frames.flatMap((frame) => redactor.push(frame)), ...redactor.end()]
}

function deltasOf(frames: readonly Frame[]): readonly string[] {
  return frames.flatMap((frame) => (frame.type === 'output_text_delta' ? [frame.delta] : []))
}

test('a secret that comes in pieces is masked once, in the frame where it begins', () => {
  const frames = redactAll([delta('key: sk-li'), delta('ve-01234567'), delta('89abcdef.')])
  expect(deltasOf(frames)).toEqual(['key: [redacted]', '', '.'])
  expect(frames.every((frame) => 'redacted' in frame)).toBe(true)
})

test('the events behind the pieces are masked as well, and stay JSON', () => {
  const frames = redactAll([
    event('sk-live-0123'),
    delta('sk-live-0123'),
    event('456789abcdef'),
    delta('456789abcdef'),
  ])
  const said = frames.flatMap((frame) =>
    frame.type === 'provider_event' ? [JSON.parse(frame.raw ?? '')] : [],
  )
  expect(said.map((data: { delta: string }) => data.delta)).toEqual(['[redacted]', ''])
})

test('a frame that may end inside of a secret waits for the next piece, with all that follow it', () => {
  const redactor = new FrameRedactor(new Redactor([SECRET]))
  expect(redactor.push(delta('Yes', 0))).toEqual([])
  expect(redactor.push(delta('other', 1, 7))).toEqual([])
  expect(redactor.push(delta(', and', 2))).toHaveLength(3)
})

test('the end of a response lets go of what was held back', () => {
  const redactor = new FrameRedactor(new Redactor([SECRET]))
  expect(redactor.push(delta('Yes', 0))).toEqual([])
  expect(redactor.push(settled('Yes'))).toEqual([delta('Yes', 0), settled('Yes')])
})

test('the end of a call lets go of what it printed, and of what waits behind that', () => {
  const redactor = new FrameRedactor(new Redactor([SECRET]))
  const printed = { ...ENVELOPE, seq: 0, type: 'tool_stdout', call_id: 'c', chunk: 'results' } as const
  const ended = { ...ENVELOPE, seq: 1, type: 'tool_ended', call_id: 'c' } as unknown as Frame
  expect(redactor.push(printed)).toEqual([])
  expect(redactor.push(ended)).toEqual([printed, ended])
})

test('a text that only begins like a secret is shown as it is', () => {
  const frames = [delta('sk-li'), delta('on')]
  expect(redactAll(frames)).toEqual(frames)
})

test('a secret that is cut off at the end of a response is masked where half of it is there', () => {
  const frames = redactAll([delta('sk-live-01234'), settled('sk-live-01234'), delta('sk-l'), settled('sk-l')])
  expect(deltasOf(frames)).toEqual(['[redacted]', 'sk-l'])
  expect(JSON.stringify(frames)).not.toContain('sk-live-0')
})

test('pieces of different texts are not taken for one', () => {
  const frames = [delta('sk-live-', 0, 0), delta('0123456789abcdef', 1, 1), settled('')]
  expect(deltasOf(redactAll(frames))).toEqual(['sk-live-', '0123456789abcdef'])
})

test('a secret in bytes that are not UTF-8 is masked too', () => {
  const { raw: _, ...rest } = event('')
  const bytes = Buffer.concat([Buffer.from(`{"key":"${SECRET}`), Buffer.from([0xff]), Buffer.from('"}')])
  const [frame] = redactAll([{ ...rest, raw_base64: bytes.toString('base64') }])
  expect(frame).toMatchObject({ raw: '{"key":"[redacted]\ufffd"}', redacted: true })
  expect(frame).not.toHaveProperty('raw_base64')
})

test('for any cut of a text into deltas, no secret is left in the joined text and nothing else is lost', () => {
  const piece = fc.oneof(fc.constant(SECRET), fc.constant('sk-live-sk-'), fc.string({ maxLength: 5 }))
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 6 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (parts, cuts) => {
        const text = parts.join('')
        const frames: Frame[] = []
        for (let at = 0; at < text.length;) {
          const length = cuts.next().value ?? 1
          frames.push(delta(text.slice(at, at + length), frames.length))
          at += length
        }
        const shown = deltasOf(redactAll(frames)).join('')
        expect(shown).toBe(new Redactor([SECRET]).text(text))
        expect(shown).not.toContain(SECRET)
      },
    ),
  )
})

test('without secrets frames pass as they are, at once', () => {
  const redactor = new FrameRedactor(new Redactor(['short']))
  const frame = delta('short')
  expect(redactor.push(frame)).toEqual([frame])
})
