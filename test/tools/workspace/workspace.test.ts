import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { need } from '../../need.ts'
import { endOf, freshFolder, freshWorkspace } from './fresh-workspace.ts'

const LONG = { timeout: 60_000 }

test('a workspace is a folder that exists, and its root is the real path of it', async () => {
  const base = freshFolder()
  mkdirSync(join(base, 'real'))
  symlinkSync('real', join(base, 'link'))
  writeFileSync(join(base, 'file'), '')
  expect((await openWorkspace(join(base, 'link'))).root).toBe(join(base, 'real'))
  expect(await endOf(() => openWorkspace(join(base, 'file')))).toBe('usage')
  expect(await endOf(() => openWorkspace(join(base, 'nothing')))).toBe('usage')
})

test('a file is read with its mode, and refused when it has one byte too many', async () => {
  const { workspace, root } = await freshWorkspace({ 'a.txt': 'hello' })
  chmodSync(join(root, 'a.txt'), 0o751)
  const path = workspace.parse('a.txt')
  expect(await workspace.readFile(path, 5)).toEqual({ bytes: Buffer.from('hello'), mode: 0o751 })
  expect(await endOf(() => workspace.readFile(path, 4))).toBe('file_too_large')
  expect(await workspace.readIfThere(workspace.parse('b.txt'), 5)).toBeNull()
  expect(await endOf(() => workspace.readIfThere(workspace.parse('.'), 5))).toBe('not_a_regular_file')
})

test('a file that was replaced or removed while it is open is read as it was', async () => {
  const { workspace } = await freshWorkspace({ 'a.txt': 'old' })
  const path = workspace.parse('a.txt', 'write')
  const text = await workspace.withFile(path, async (file) => {
    await workspace.removeFile(path)
    return (await file.readFile()).toString('utf8')
  })
  expect(text).toBe('old')
  expect(await endOf(() => workspace.readFile(path, 5))).toBe('path_not_found')
})

test('a name that ends like the mark of a removed file is judged as the name before it too', async () => {
  const { workspace, root } = await freshWorkspace({ '.env (deleted)': 'KEY', 'a (deleted)': 'a' })
  symlinkSync('.env (deleted)', join(root, 'notes'))
  expect(await endOf(() => workspace.readFile(workspace.parse('notes'), 10))).toBe('path_refused')
  expect((await workspace.readFile(workspace.parse('a (deleted)'), 10)).bytes.toString('utf8')).toBe('a')
})

test('replacing keeps the mode of a file but not the bits that lend rights', async () => {
  const { workspace, root } = await freshWorkspace({ 'a.sh': 'old', 'b.sh': 'old' })
  const modeOf = (name: string): number => statSync(join(root, name)).mode & 0o7777
  chmodSync(join(root, 'a.sh'), 0o4740)
  await workspace.replaceFile(workspace.parse('a.sh', 'write'), Buffer.from('new'))
  expect(modeOf('a.sh')).toBe(0o740)
  await workspace.replaceFile(workspace.parse('b.sh', 'write'), Buffer.from('new'), { mode: 0o4750 })
  expect(modeOf('b.sh')).toBe(0o750)
  await workspace.replaceFile(workspace.parse('c.sh', 'write'), Buffer.from('new'), { mode: 0o600 })
  expect(modeOf('c.sh')).toBe(0o600)
  await workspace.replaceFile(workspace.parse('d.txt', 'write'), Buffer.from('new'))
  expect(modeOf('d.txt') & 0o111).toBe(0)
})

test('a path that was judged for reading cannot be used to write what is protected', async () => {
  const { workspace, root } = await freshWorkspace({ '.git/config': 'old' })
  const forReading = workspace.parse('.git/config')
  expect(forReading.kind).toBe('secret')
  expect(await endOf(() => workspace.replaceFile(forReading, Buffer.from('new')))).toBe('path_refused')
  expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('old')
})

test('a reader sees the old content or the new, never a part', LONG, async () => {
  const { workspace, root } = await freshWorkspace({ 'a.txt': 'a'.repeat(300_000) })
  const path = workspace.parse('a.txt', 'write')
  const over = new AbortController()
  const seen = new Set<string>()
  const reading = (async () => {
    while (!over.signal.aborted) {
      const text = await readFile(join(root, 'a.txt'), 'latin1')
      seen.add(`${text.length} of ${[...new Set(text)].join('')}`)
    }
  })()
  // Until both were seen: on a busy machine the reader may come by at the same content each time.
  for (let turn = 0; turn < 60 || seen.size < 2; turn += 1) {
    await workspace.replaceFile(path, Buffer.alloc(300_000, turn % 2 === 0 ? 'b' : 'a'))
  }
  over.abort()
  await reading
  expect([...seen].toSorted()).toEqual(['300000 of a', '300000 of b'])
})

test('a folder is given as a path that leads to that folder, also for another process and after a move', async () => {
  const { workspace, root } = await freshWorkspace({ 'dir/a.txt': 'a' })
  const names = await workspace.withFolder(workspace.parse('dir'), (folder) => {
    execFileSync('mv', [join(root, 'dir'), join(root, 'moved')])
    mkdirSync(join(root, 'dir'))
    return Promise.resolve(execFileSync('ls', [`${folder}/`], { encoding: 'utf8', cwd: folder }))
  })
  expect(names).toBe('a.txt\n')
  const notFolder = workspace.withFolder(workspace.parse('moved/a.txt'), (folder) => Promise.resolve(folder))
  expect(await endOf(() => notFolder)).toBe('path_not_found')
})

test('no file stays open after operations that went well and ones that failed', LONG, async () => {
  const { workspace } = await freshWorkspace({ 'a.txt': 'a', 'dir/b.txt': 'b' })
  const work = async (): Promise<void> => {
    for (const path of ['a.txt', 'dir/b.txt', 'dir', 'nothing', 'a.txt/x', 'new/er/c.txt', '.git/config']) {
      const forWriting = workspace.parse(path, 'write')
      await endOf(() => workspace.readFile(workspace.parse(path), 10))
      await endOf(() => workspace.replaceFile(forWriting, Buffer.from('x')))
      await endOf(() => workspace.replaceFile({ ...forWriting, kind: 'plain' }, Buffer.from('x')))
      await endOf(() => workspace.removeFile(forWriting))
      await endOf(() => workspace.withFolder(forWriting, () => Promise.reject(new Error('no'))))
    }
  }
  await work()
  const before = openFiles()
  const counts: number[] = []
  for (let turn = 0; turn < 12; turn += 1) {
    await work()
    counts.push(openFiles())
  }
  // A few that are not ours may come and go; one that is left behind each turn makes twelve.
  expect(Math.max(...counts)).toBeLessThan(before + 6)
})

function openFiles(): number {
  return readdirSync('/proc/self/fd').length
}

// A process of its own, with limits that a test cannot put on itself.
const WRITER = `
  const { openWorkspace } = await import(process.argv[1])
  const workspace = await openWorkspace(process.argv[2])
  process.on('SIGXFSZ', () => {})
  try {
    await workspace.replaceFile(workspace.parse('dir/a.txt', 'write'), Buffer.alloc(200_000, 'n'))
    console.log('written')
  } catch (error) {
    console.log(error.code + ': ' + error.message)
  }
`

const SOURCE = new URL('../../../src/tools/workspace/workspace.ts', import.meta.url).href

function writeUnder(command: readonly string[], root: string): string {
  const [program = '', ...parameters] = command
  const node = [process.execPath, '--input-type=module', '-e', WRITER, SOURCE, root]
  return execFileSync(program, [...parameters, ...node], { encoding: 'utf8' }).trim()
}

test('a write that hits the limit of file sizes leaves the old file and nothing else', LONG, async () => {
  const { root } = await freshWorkspace({ 'dir/a.txt': 'old' })
  const said = writeUnder(['prlimit', '--fsize=100000'], root)
  expect(said).toBe('file_unwritable: dir/a.txt cannot be written: the file would be too large')
  expect(readFileSync(join(root, 'dir/a.txt'), 'utf8')).toBe('old')
  expect(readdirSync(join(root, 'dir'))).toEqual(['a.txt'])
})

test('a write to a full disk or a read-only one says so and leaves the old file', LONG, async (context) => {
  need(context, 'bubblewrap')
  const { root } = await freshWorkspace({ 'dir/a.txt': 'old' })
  const everything = ['bwrap', '--dev-bind', '/', '/', '--proc', '/proc']
  expect(writeUnder([...everything, '--ro-bind', root, root], root)).toBe(
    'file_unwritable: dir/a.txt cannot be written: the file system is read-only',
  )
  const full = [...everything, '--size', '65536', '--tmpfs', join(root, 'dir')]
  expect(writeUnder(full, root)).toBe('file_unwritable: dir/a.txt cannot be written: the disk is full')
  expect(readFileSync(join(root, 'dir/a.txt'), 'utf8')).toBe('old')
  expect(readdirSync(join(root, 'dir'))).toEqual(['a.txt'])
})
