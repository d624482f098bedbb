import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { openArtifacts } from '../../../src/tools/artifacts/artifact-store.ts'
import { need } from '../../need.ts'

const MIB = 1024 * 1024

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-artifacts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'store')
}

function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function filesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort() : []
}

test('an artifact is a file named by its hash, readable by its owner only', async () => {
  const folder = makeFolder()
  const id = sha256('hello')
  expect(await openArtifacts(folder).put(Buffer.from('hello'))).toEqual({ id, bytes: 5, isTruncated: false })
  expect(filesIn(folder)).toEqual([id.slice(0, 2), `${id.slice(0, 2)}/${id}`])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, id.slice(0, 2))).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, id.slice(0, 2), id)).mode & 0o777).toBe(0o600)
})

test('nothing is made before something is written, and nothing is left of what is dropped', () => {
  const folder = makeFolder()
  const store = openArtifacts(folder)
  store.begin().drop()
  expect(filesIn(folder)).toEqual([])
  const writer = store.begin()
  writer.write(Buffer.from('x'))
  expect(filesIn(folder)).toHaveLength(1)
  writer.drop()
  writer.drop()
  expect(filesIn(folder)).toEqual([])
})

test('pieces add up to the artifact of the whole', async () => {
  const store = openArtifacts(makeFolder())
  const writer = store.begin()
  for (const piece of ['a', '', 'bc', 'd']) writer.write(Buffer.from(piece))
  expect(await writer.keep()).toEqual({ id: sha256('abcd'), bytes: 4, isTruncated: false })
})

test('an output of nothing is an artifact too', async () => {
  const store = openArtifacts(makeFolder())
  expect(await store.begin().keep()).toEqual({ id: sha256(''), bytes: 0, isTruncated: false })
  expect(await store.read(sha256(''), 0, 10)).toEqual({ bytes: Buffer.alloc(0), totalBytes: 0 })
})

test('a writer that has ended takes no more', async () => {
  const writer = openArtifacts(makeFolder()).begin()
  await writer.keep()
  expect(() => writer.write(Buffer.from('x'))).toThrow('was kept or dropped')
  await expect(writer.keep()).rejects.toThrow('was kept or dropped')
})

test('equal outputs are one file, also when eight processes store them at once', async () => {
  const folder = makeFolder()
  const module = new URL('../../../src/tools/artifacts/artifact-store.ts', import.meta.url).href
  const script = `
    const { openArtifacts } = await import(${JSON.stringify(module)})
    const store = openArtifacts(${JSON.stringify(folder)})
    for (let time = 0; time < 50; time += 1) {
      const kept = await store.put(Buffer.alloc(100_000, 'same'))
      if (kept === null) process.exit(3)
    }`
  const children = Array.from({ length: 8 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' }),
  )
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as unknown))
  expect(codes).toEqual(Array.from({ length: 8 }, () => 0))
  const id = sha256(Buffer.alloc(100_000, 'same'))
  expect(filesIn(folder)).toEqual([id.slice(0, 2), `${id.slice(0, 2)}/${id}`])
  expect((await openArtifacts(folder).read(id, 0, 4)).bytes.toString()).toBe('same')
}, 30_000)

test('what is beyond 16 MiB is counted and not stored', async () => {
  const store = openArtifacts(makeFolder())
  const writer = store.begin()
  for (let at = 0; at < 17; at += 1) writer.write(Buffer.alloc(MIB, at))
  writer.write(Buffer.from('end'))
  const kept = await writer.keep()
  expect(kept).toMatchObject({ bytes: 16 * MIB, isTruncated: true })
  expect(writer.bytesTotal).toBe(17 * MIB + 3)
  const { bytes, totalBytes } = await store.read(kept?.id ?? '', 16 * MIB - 2, 100)
  expect([bytes, totalBytes]).toEqual([Buffer.from([15, 15]), 16 * MIB])
})

test('an artifact of exactly 16 MiB is whole', async () => {
  const kept = await openArtifacts(makeFolder()).put(Buffer.alloc(16 * MIB))
  expect(kept).toMatchObject({ bytes: 16 * MIB, isTruncated: false })
})

test.each([
  ['nothing of that name', '0'.repeat(64)],
  ['a path', '../../../../etc/passwd'],
  ['capitals', 'A'.repeat(64)],
  ['a digit too many', '0'.repeat(65)],
  ['a line break behind it', `${'0'.repeat(64)}\n`],
  ['no id', ''],
])('an id that is %s is unknown', async (_, id) => {
  await expect(openArtifacts(makeFolder()).read(id, 0, 1)).rejects.toMatchObject({ code: 'artifact_unknown' })
})

test.each<readonly [string, (path: string) => void]>([
  ['has other bytes', (path) => writeFileSync(path, 'other')],
  ['was cut short', (path) => truncateSync(path, 2)],
  [
    'is a link',
    (path) => {
      renameSync(path, `${path}.real`)
      symlinkSync(`${path}.real`, path)
    },
  ],
  [
    'is a folder',
    (path) => {
      rmSync(path)
      mkdirSync(path)
    },
  ],
  ['is larger than any artifact', (path) => truncateSync(path, 16 * MIB + 1)],
])('an artifact whose file %s is unknown', async (_, damage) => {
  const folder = makeFolder()
  const store = openArtifacts(folder)
  const id = sha256('hello')
  await store.put(Buffer.from('hello'))
  damage(join(folder, id.slice(0, 2), id))
  await expect(store.read(id, 0, 1)).rejects.toMatchObject({ code: 'artifact_unknown' })
})

test('a damaged artifact is whole again once it is stored again', async () => {
  const folder = makeFolder()
  const store = openArtifacts(folder)
  const id = sha256('hello')
  await store.put(Buffer.from('hello'))
  writeFileSync(join(folder, id.slice(0, 2), id), 'other')
  await store.put(Buffer.from('hello'))
  expect((await store.read(id, 0, 10)).bytes.toString()).toBe('hello')
})

test.each([
  [-1, 1],
  [0.5, 1],
  [Number.NaN, 1],
  [0, -1],
  [0, 512 * 1024 + 9],
  [Number.MAX_SAFE_INTEGER + 1, 1],
])('offset %s with length %s is refused', async (offset, length) => {
  await expect(openArtifacts(makeFolder()).read('0'.repeat(64), offset, length)).rejects.toMatchObject({
    code: 'usage',
  })
})

test('a range beyond the end has no bytes, and one over the end has those that are there', async () => {
  const store = openArtifacts(makeFolder())
  await store.put(Buffer.from('hello'))
  expect(await store.read(sha256('hello'), 99, 5)).toEqual({ bytes: Buffer.alloc(0), totalBytes: 5 })
  expect((await store.read(sha256('hello'), 3, 5)).bytes.toString()).toBe('lo')
})

test('on a full disk an output has no artifact, its length is known, and nothing is left on the disk', (context) => {
  need(context, 'root')
  const disk = makeFolder()
  mkdirSync(disk)
  const module = new URL('../../../src/tools/artifacts/artifact-store.ts', import.meta.url).href
  const script = `
    const { openArtifacts } = await import(${JSON.stringify(module)})
    const { readdirSync } = await import('node:fs')
    const store = openArtifacts(process.argv[1] + '/store')
    const writer = store.begin()
    for (let at = 0; at < 100; at += 1) writer.write(Buffer.alloc(64 * 1024))
    const kept = await writer.keep()
    // One write of which the disk takes a part, and says so by the count only.
    const large = await store.put(Buffer.alloc(2 * 1024 * 1024 + 7))
    const small = await store.put(Buffer.from('fits'))
    console.log(kept, large, writer.bytesTotal, readdirSync(process.argv[1] + '/store').length, small.bytes)`
  const mount = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'
  const child = [process.execPath, '--input-type=module', '--eval', script, disk]
  const [program, ...args] = ['unshare', '-m', 'sh', '-c', mount, disk, ...child]
  const printed = execFileSync(program, args, { encoding: 'utf8' })
  expect(printed.trim()).toBe(`null null ${100 * 64 * 1024} 1 4`)
})
