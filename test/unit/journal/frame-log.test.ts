import { expect, test } from 'vitest'

import { FrameStamp } from '../../../src/frames/frame-stamp.ts'
import type { Frame } from '../../../src/frames/generated/frame.ts'
import { outputTextDeltaFrame } from '../../../src/frames/make-frame.ts'
import { responseFirstByteFrame } from '../../../src/frames/turn-frames.ts'
import { FrameLog } from '../../../src/journal/frame-log.ts'

const stamp = new FrameStamp('run_1', () => 0)

function textFrame(delta: string): Frame {
  return outputTextDeltaFrame(stamp, { delta, item_id: null, output_index: 0 })
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}

test('a reader sees what was there, what comes, and the end', async () => {
  const log = new FrameLog()
  const [first, second, third] = [textFrame('a'), textFrame('b'), textFrame('c')]
  log.append([first])
  const early = collect(log.read())
  log.append([second])
  await Promise.resolve()
  const late = collect(log.read(1))
  log.append([third])
  log.end()
  expect(await early).toEqual([first, second, third])
  expect(await late).toEqual([second, third])
  expect(await collect(log.read())).toEqual([first, second, third])
})

test('a reader that waits is woken by the end', async () => {
  const log = new FrameLog()
  const waiting = collect(log.read())
  await Promise.resolve()
  log.end()
  expect(await waiting).toEqual([])
})

test('a reader that left gets nothing more, and the others go on', async () => {
  const log = new FrameLog()
  log.append([textFrame('a')])
  const leaving = log.read()
  for await (const frame of leaving) if (frame.seq >= 0) break
  log.append([textFrame('b')])
  log.end()
  expect(await leaving.next()).toEqual({ value: undefined, done: true })
  expect(await collect(log.read())).toHaveLength(2)
})

test('text is read without the frames between', async () => {
  const log = new FrameLog()
  const text = collect(log.readText())
  for (const delta of ['one', ' two']) {
    log.append([responseFirstByteFrame(stamp, { turn: 1, attempt: 0 })])
    log.append([textFrame(delta)])
    await Promise.resolve()
  }
  log.append([responseFirstByteFrame(stamp, { turn: 1, attempt: 0 })])
  log.end()
  expect(await text).toEqual(['one', ' two'])
})
