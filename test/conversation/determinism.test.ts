import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test, vi } from 'vitest'

import { tempFolder } from '../journal/store-kit.ts'
import { haveConversation, liveContext, nextContext, type NextContext } from './determinism-kit.ts'

vi.setConfig({ testTimeout: 60_000 })

const CHILD = fileURLToPath(new URL('determinism-child.ts', import.meta.url))

/** A conversation in a file, and copies of it. */
async function storedConversation(): Promise<() => string> {
  const folder = tempFolder()
  const path = join(folder, 'runs.db')
  await haveConversation(path)
  let copies = 0
  return () => {
    copies += 1
    const place = join(folder, `machine-${copies}`)
    mkdirSync(place)
    copyFileSync(path, join(place, 'runs.db'))
    return join(place, 'runs.db')
  }
}

interface ChildContext extends NextContext {
  readonly around: { readonly zone: number; readonly number: string }
}

/** The same in another process, in a folder and surroundings of its own. */
async function elsewhere(store: string, env: Readonly<Record<string, string>> = {}): Promise<ChildContext> {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, store], {
    cwd: tempFolder(),
    env: { ...process.env, ...env },
  })
  return JSON.parse(stdout) as ChildContext
}

test('A conversation that was never closed has the same bundle as one that was opened again.', async () => {
  const copy = await storedConversation()
  const live = await liveContext(join(tempFolder(), 'runs.db'))
  expect(await nextContext(copy())).toEqual(live)
})

test('A conversation that goes on in this process and one that goes on in another have the same bundle.', async () => {
  const copy = await storedConversation()
  const here = await nextContext(copy())
  expect(here.bundleId).toMatch(/\w{32}/u)
  expect(here.selection['checkpoints']).toHaveLength(1)
  expect(here.body).toContain('cassé')
  const { around: _, ...there } = await elsewhere(copy())
  expect(there).toEqual(here)
  // And once more from the beginning: nothing random, and no time, is in it.
  expect((await nextContext(copy())).bundleId).toBe(here.bundleId)
})

test.each([
  ['Turkish', { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', TZ: 'Pacific/Kiritimati' }],
  ['German', { LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8', TZ: 'America/St_Johns' }],
  ['no', { LANG: 'C', LC_ALL: 'C', TZ: 'UTC' }],
])('The bundle and the request are the same with %s locale and another time zone.', async (_, env) => {
  const copy = await storedConversation()
  const here = await nextContext(copy())
  const { around, ...there } = await elsewhere(copy(), env)
  const zones: Record<string, number> = { 'Pacific/Kiritimati': 640, 'America/St_Johns': 210, UTC: 0 }
  expect(around.zone).toBe(zones[env.TZ])
  expect(there).toEqual(here)
})

test('Two conversations that were had apart from each other have the same bundle.', async () => {
  const [one, other] = [await storedConversation(), await storedConversation()]
  expect(await nextContext(one())).toEqual(await nextContext(other()))
})
