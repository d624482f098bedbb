import { expect, test } from 'vitest'

import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import {
  outputTextDeltaFrame,
  providerEventFrame,
  reasoningDeltaFrame,
  refusalDeltaFrame,
} from '../../src/frames/make-frame.ts'
import { parseFrame } from '../../src/frames/parse-frame.ts'
import { responseFirstByteFrame, responseHeadersFrame } from '../../src/frames/turn-frames.ts'

const delta = { delta: 'x', item_id: null, output_index: 0 }
const event = {
  status: 'event',
  event_name: null,
  raw: '{"type":"x"}',
  raw_base64: null,
  errors: ['type is unknown'],
  response_errors: [],
  anomalies: [{ code: 'sequence_gap', detail: '1 then 3' }],
} as const

function stamp(now = (): number => 5): FrameStamp {
  return new FrameStamp('run_1', now)
}

test('every constructor makes a frame that can be read back', () => {
  const place = stamp()
  const frames = [
    responseHeadersFrame(place, {
      turn: 1,
      attempt: 0,
      status: 200,
      request_id: 'req_1',
      content_type: null,
    }),
    responseFirstByteFrame(place, { turn: 1, attempt: 0 }),
    providerEventFrame(place, 1, 0, event),
    providerEventFrame(place, 1, 0, { ...event, raw_base64: '/w==' }),
    outputTextDeltaFrame(place, delta),
    refusalDeltaFrame(place, delta),
    reasoningDeltaFrame(place, { ...delta, part: 'summary' }),
  ]
  expect(frames.map((frame) => parseFrame(formatFrame(frame)))).toEqual(frames)
  expect(frames.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6])
})

test('an event whose bytes were no text is framed by its bytes alone', () => {
  const frame = providerEventFrame(stamp(), 1, 0, { ...event, raw_base64: '/w==' })
  expect(frame).not.toHaveProperty('raw')
  expect(frame.raw_base64).toBe('/w==')
})

test('numbers go on where a run went on, and times never decrease', () => {
  let now = 100
  const place = new FrameStamp('run_1', () => now, { seq: 6, ts: 90 })
  const first = outputTextDeltaFrame(place, delta)
  now = 50
  place.tick()
  const second = outputTextDeltaFrame(place, delta)
  now = 120.9
  place.tick()
  expect([first, second, outputTextDeltaFrame(place, delta)].map(({ seq, ts }) => [seq, ts])).toEqual([
    [7, 100],
    [8, 100],
    [9, 120],
  ])
})

test.for([
  [
    'a newer version',
    '{"v":2,"type":"run_started"}',
    /^frame version 2 is not known, this loopchart reads version 1$/u,
  ],
  ['a version that is no number', '{"v":"next"}', /frame version "next" is not known/u],
  ['no version', '{"type":"run_started"}', /has no version/u],
] as const)('a frame with %s is refused by name', ([, line, message]) => {
  expect(() => parseFrame(line)).toThrow(expect.objectContaining({ code: 'frame_version_unknown' }))
  expect(() => parseFrame(line)).toThrow(message)
})

test.for([
  ['text that is no JSON', '{"v":1', /not JSON/u],
  ['an array', '[]', /must be a JSON object/u],
  ['an unknown type', '{"v":1,"run_id":"r","seq":0,"ts":0,"type":"no_such_frame"}', /no_such_frame/u],
  [
    'a missing field',
    '{"v":1,"run_id":"r","seq":0,"ts":0,"type":"response_first_byte","turn":1}',
    /attempt/u,
  ],
  [
    'a wrong field',
    '{"v":1,"run_id":"r","seq":-1,"ts":0,"type":"response_first_byte","turn":1,"attempt":0}',
    /seq/u,
  ],
  [
    'an event without its text',
    '{"v":1,"run_id":"r","seq":0,"ts":0,"type":"provider_event","turn":1,"attempt":0,"status":"done","event_name":null,"errors":[],"response_errors":[],"anomalies":[]}',
    /provider_event/u,
  ],
] as const)('a line with %s is refused with the reason', ([, line, message]) => {
  expect(() => parseFrame(line)).toThrow(expect.objectContaining({ code: 'frame_invalid' }))
  expect(() => parseFrame(line)).toThrow(message)
})

test('fields that the format does not list are kept', () => {
  const line =
    '{"v":1,"run_id":"r","seq":0,"ts":0,"type":"response_first_byte","turn":1,"attempt":0,"later":[1]}'
  expect(parseFrame(line)).toEqual(JSON.parse(line))
})

test('a line of a log has nothing in it that a terminal obeys, and reads back the same', () => {
  const hostile = '\u001b[31m\u009b31m\u007f\u202e\u2066\u2028\ufeff\u0000\r\n'
  const frame = outputTextDeltaFrame(stamp(), { ...delta, delta: hostile })
  const line = formatFrame(frame)
  // oxlint-disable-next-line no-control-regex -- the characters that must not be there
  expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/u)
  expect(parseFrame(line)).toEqual(frame)
})
