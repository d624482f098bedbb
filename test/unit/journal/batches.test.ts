import { expect, test } from 'vitest'

import { FrameStamp } from '../../../src/frames/frame-stamp.ts'
import type { Frame } from '../../../src/frames/generated/frame.ts'
import { outputTextDeltaFrame } from '../../../src/frames/make-frame.ts'
import { FrameLog } from '../../../src/journal/frame-log.ts'

const stamp = new FrameStamp('run_1', () => 1000)

function frames(count: number): readonly Frame[] {
  return Array.from({ length: count }, (_, at) =>
    outputTextDeltaFrame(stamp, { delta: String(at), item_id: null, output_index: 0 }),
  )
}

test('a reader of batches gets every frame once, in lists that are never empty', async () => {
  const log = new FrameLog()
  const all = frames(1000)
  const seen: (readonly Frame[])[] = []
  const reading = (async () => {
    for await (const batch of log.readBatches()) seen.push(batch)
  })()
  log.append(all.slice(0, 1))
  await Promise.resolve()
  log.append(all.slice(1, 700))
  log.append(all.slice(700))
  log.end()
  await reading
  expect(seen.flat()).toEqual(all)
  expect(seen.every(({ length }) => length > 0)).toBe(true)
  expect(seen.length).toBeLessThan(20)
})

test('a reader of batches may begin anywhere, and leave at any time', async () => {
  const log = new FrameLog()
  const all = frames(10)
  log.append(all)
  for await (const batch of log.readBatches(4)) {
    expect(batch).toEqual(all.slice(4))
    break
  }
  const reader = log.readBatches(10)
  const next = reader.next()
  await reader.return?.()
  expect(await next).toEqual({ value: undefined, done: true })
})
