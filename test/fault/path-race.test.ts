import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { endOf, freshWorkspace } from '../tools/workspace/fresh-workspace.ts'

// Where a sync costs nothing, so that there are many tries in the time.
const FAST_FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const SECRET = 'the secret outside'
const READS = 7000
const WRITES = 3000
const NAIVE_READS_MAX = 20_000
const AT_ONCE = 4

// Swaps `flip` and `flip-w` between a file and a link out, and `d` between a folder and a link out, without a rest.
const FLIPPER = `
  const fs = require('node:fs')
  process.chdir(process.argv[1])
  fs.symlinkSync('../outside', 'd-link')
  const flips = (name) => {
    fs.symlinkSync('../outside/in.txt', name + '-next'); fs.renameSync(name + '-next', name)
    fs.writeFileSync(name + '-next', 'inside'); fs.renameSync(name + '-next', name)
  }
  // While d is away, a writer may make one of its own.
  let strays = 0
  const move = (from, to) => {
    for (;;) {
      try { return fs.renameSync(from, to) } catch { fs.renameSync(to, 'stray-' + (strays += 1)) }
    }
  }
  const swap = () => { move('d', 'd-real'); move('d-link', 'd'); move('d', 'd-link'); move('d-real', 'd') }
  let isOn = true
  let count = 0
  process.on('message', () => { isOn = false })
  const spin = () => {
    for (let turn = 0; turn < 50; turn += 1) { flips('flip'); flips('flip-w'); swap(); count += 1 }
    if (isOn) setImmediate(spin)
    else process.send({ count }, () => process.disconnect())
  }
  process.send('ready', spin)
`

test(
  'fault T12: 20,000 tries against swapped links read and write nothing outside',
  { timeout: 120_000 },
  async () => {
    const files = { flip: 'inside', 'flip-w': 'inside', 'd/in.txt': 'inside' }
    const { workspace, base, root } = await freshWorkspace(files, FAST_FOLDER)
    mkdirSync(join(base, 'outside'))
    writeFileSync(join(base, 'outside', 'in.txt'), SECRET)
    const stop = await startFlipping(root)

    const read = (path: string): Promise<unknown> =>
      endOf(async () => (await workspace.readFile(workspace.parse(path), 1000)).bytes.toString('utf8'))
    const write = (path: string): Promise<unknown> =>
      endOf(async () => {
        await workspace.replaceFile(workspace.parse(path, 'write'), Buffer.from('inside'))
        return 'written'
      })
    const seen = {
      file: await tally(READS, () => read('flip')),
      folder: await tally(READS, () => read('d/in.txt')),
      writtenFile: await tally(WRITES, () => write('flip-w')),
      writtenFolder: await tally(WRITES, () => write('d/new.txt')),
    }
    const isNaiveLeaking = await leaksNaively(root)
    const flips = await stop()

    for (const ends of [seen.file, seen.folder]) {
      expect(ends.has(SECRET), describeEnds(ends)).toBe(false)
      // Both sides of the swap were met, or nothing has been shown.
      expect(ends.get('inside'), describeEnds(ends)).toBeGreaterThan(READS / 100)
      expect(ends.get('path_outside_workspace'), describeEnds(ends)).toBeGreaterThan(READS / 100)
    }
    expect([...seen.writtenFile.keys()]).toEqual(['written'])
    expect(seen.writtenFolder.get('written')).toBeGreaterThan(WRITES / 100)
    expect(seen.writtenFolder.get('path_outside_workspace')).toBeGreaterThan(WRITES / 100)
    // The same race is lost by what one would write without thinking of it.
    expect(isNaiveLeaking).toBe(true)
    expect(readdirSync(join(base, 'outside'))).toEqual(['in.txt'])
    expect(readFileSync(join(base, 'outside', 'in.txt'), 'utf8')).toBe(SECRET)
    expect(flips).toBeGreaterThan(500)
  },
)

async function startFlipping(root: string): Promise<() => Promise<number>> {
  const child = spawn(process.execPath, ['-e', FLIPPER, root], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return async () => {
    const told = once(child, 'message')
    child.send('stop')
    const [{ count }] = (await told) as [{ readonly count: number }]
    return count
  }
}

async function tally(tries: number, attempt: () => Promise<unknown>): Promise<ReadonlyMap<unknown, number>> {
  const ends = new Map<unknown, number>()
  const go = async (): Promise<void> => {
    for (let at = 0; at < tries / AT_ONCE; at += 1) {
      const end = await attempt()
      ends.set(end, (ends.get(end) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, go))
  return ends
}

async function leaksNaively(root: string): Promise<boolean> {
  for (let at = 0; at < NAIVE_READS_MAX; at += 1) {
    if ((await endOf(() => readNaively(root, 'flip'))) === SECRET) return true
  }
  return false
}

async function readNaively(root: string, path: string): Promise<string> {
  const place = await realpath(join(root, path))
  if (relative(root, place).startsWith('..')) return 'seen outside'
  return readFile(join(root, path), 'utf8')
}

function describeEnds(ends: ReadonlyMap<unknown, number>): string {
  return JSON.stringify([...ends])
}
