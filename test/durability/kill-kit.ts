import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { replay } from '../../src/replay-run.ts'

const CHILD = fileURLToPath(new URL('kill-child.ts', import.meta.url))

/** Where one run is kept, and what its tools did. */
export interface Place {
  readonly store: string
  readonly effects: string
}

export function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-kill-test-'))
  return { store: join(folder, 'runs.db'), effects: join(folder, 'effects.txt') }
}

export interface Death {
  /** Dies by itself at this point; 0: it lives. */
  readonly atPoint?: number
  /** Is killed after so many milliseconds. */
  readonly afterMs?: number
}

/** One life of the process: what it said at its end, null when it was killed, `ended` when there was nothing to do. */
export function life({ store, effects }: Place, { atPoint = 0, afterMs }: Death): Promise<unknown> {
  const child = spawn(process.execPath, [CHILD, store, effects, String(atPoint)])
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const timer = afterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), afterMs)
  return new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (signal === 'SIGKILL') resolve(null)
      else if (code === 0) resolve(JSON.parse(out))
      else if (err.includes('the run has ended: done')) resolve('ended')
      else reject(new Error(err))
    })
  })
}

export function framesIn({ store }: Place): readonly Frame[] {
  if (!existsSync(store)) return []
  const opened = openStore(store)
  const frames = opened.list().length === 0 ? [] : [...opened.read('run_1')]
  opened.close()
  return frames
}

/** What must hold of a run however often it was killed, once it has ended. */
export function checkRun(where: Place, name: string): void {
  const frames = framesIn(where)
  expect(frames.at(-1), name).toMatchObject({ type: 'run_ended', state: 'done', text: 'done' })
  expect(
    frames.map(({ seq }) => seq),
    name,
  ).toEqual(frames.map((_, at) => at))
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
  expect(replay(frames), name).toMatchObject({ ok: true })
}

function effectsIn({ effects }: Place): readonly string[] {
  return existsSync(effects) ? readFileSync(effects, 'utf8').trimEnd().split('\n') : []
}
