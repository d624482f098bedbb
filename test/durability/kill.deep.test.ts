import { expect, test } from 'vitest'

import { checkRun, framesIn, life, place } from './kill-kit.ts'

const END = {
  state: 'done',
  text: 'done',
  turns: 3,
  calls: [
    { callId: 'call_1_0', name: 'look', outcome: 'ok' },
    { callId: 'call_2_0', name: 'pay', outcome: 'ok' },
    { callId: 'call_2_1', name: 'pay', outcome: 'ok' },
  ],
}
const PROCESSES = 2

test('fault K01, K02: killed at every append and effect, and again while it is resumed, a run comes to its end with nothing lost and nothing done twice', async () => {
  const whole = await life(place(), {})
  expect(whole).toMatchObject(END)
  const points = Number(Object(whole).points)
  expect(points).toBeGreaterThan(40)
  const queue = Array.from({ length: points }, (_, at) => at + 1)
  const work = async (): Promise<void> => {
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) await dieAndGoOn(at)
  }
  await Promise.all(Array.from({ length: PROCESSES }, work))
})

/** Dies at a point; the next life dies a few points after its start, where there are so many; then it lives. */
async function dieAndGoOn(killAt: number): Promise<void> {
  const where = place()
  const name = `killed at ${killAt}`
  expect(await life(where, { atPoint: killAt }), name).toBeNull()
  const before = framesIn(where)
  await life(where, { atPoint: 1 + (killAt % 7) })
  expect(await life(where, {}), name).not.toBeNull()
  expect(framesIn(where).slice(0, before.length), name).toEqual(before)
  checkRun(where, name)
}
