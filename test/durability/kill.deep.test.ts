import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore } from '../../src/journal/open-store.ts'

const CHILD = fileURLToPath(new URL('kill-child.ts', import.meta.url))
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
  const whole = await life(place(), 0)
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
  expect(await life(where, killAt), name).toBeNull()
  const before = framesIn(where)
  await life(where, 1 + (killAt % 7))
  const end = (await life(where, 0)) ?? (await life(where, 0))
  // A second life that was short enough has ended the run already.
  const frames = framesIn(where)
  expect(frames.at(-1), name).toMatchObject({ type: 'run_ended', state: 'done', text: 'done' })
  expect(end === 'ended' || JSON.stringify(end).includes('"done"'), name).toBe(true)
  expect(
    frames.map(({ seq }) => seq),
    name,
  ).toEqual(frames.map((_, at) => at))
  expect(frames.slice(0, before.length), name).toEqual(before)
  const paid = effectsIn(where).filter((effect) => effect.startsWith('pay '))
  expect(paid.sort(), name).toEqual(['pay run_1/2/0', 'pay run_1/2/1'])
  // A call whose outcome is in the log is never started again.
  for (const [at, frame] of frames.entries()) {
    if (frame.type !== 'tool_ended') continue
    const again = frames
      .slice(at)
      .some((later) => later.type === 'tool_started' && later.call_id === frame.call_id)
    expect(again, `${name}: ${frame.call_id}`).toBe(false)
  }
}

interface Place {
  readonly store: string
  readonly effects: string
}

function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-kill-test-'))
  return { store: join(folder, 'runs.db'), effects: join(folder, 'effects.txt') }
}

/** One life of the process: what it said at its end, null when it was killed, `ended` when there was nothing to do. */
function life({ store, effects }: Place, killAt: number): Promise<unknown> {
  const child = spawn(process.execPath, [CHILD, store, effects, String(killAt)])
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(null)
      else if (code === 0) resolve(JSON.parse(out))
      else if (err.includes('the run has ended: done')) resolve('ended')
      else reject(new Error(err))
    })
  })
}

function framesIn({ store }: Place): readonly Frame[] {
  if (!existsSync(store)) return []
  const opened = openStore(store)
  const frames = opened.list().length === 0 ? [] : [...opened.read('run_1')]
  opened.close()
  return frames
}

function effectsIn({ effects }: Place): readonly string[] {
  return existsSync(effects) ? readFileSync(effects, 'utf8').trimEnd().split('\n') : []
}
