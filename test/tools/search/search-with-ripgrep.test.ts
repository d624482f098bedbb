import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { findRipgrep } from '../../../src/tools/search/find-ripgrep.ts'
import { RipgrepReader } from '../../../src/tools/search/ripgrep-reader.ts'
import type { SearchRequest } from '../../../src/tools/search/search-request.ts'
import { searchWithRipgrep } from '../../../src/tools/search/search-with-ripgrep.ts'
import { translatePattern } from '../../../src/tools/search/translate-pattern.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { makeFolder, needRipgrep, writeTree } from './grep-in.ts'

// In a text of its own: a digit that follows would be taken for a part of it.
const NUL = '\0'

async function requestIn(folder: string, signal = new AbortController().signal): Promise<SearchRequest> {
  const workspace = await openWorkspace(folder)
  const pattern = translatePattern('x', { isLiteral: true, isCaseIgnored: false })
  return { workspace, root: workspace.parse('.'), pattern, isIncluded: () => true, signal }
}

/** A program that does what the script says, in the place of ripgrep. */
function makeProgram(folder: string, script: string): string {
  const path = join(folder, 'program')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('an aborted search kills ripgrep', async () => {
  const folder = makeFolder()
  const program = makeProgram(makeFolder(), 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 1000')
  const controller = new AbortController()
  const started = (async () => {
    const changes = watch(folder, { signal: AbortSignal.timeout(4000) })
    for await (const _ of changes) if (existsSync(join(folder, 'pid'))) return
  })()
  const searching = searchWithRipgrep(program, folder, await requestIn(folder, controller.signal), null)
  const outcome = searching.catch((error: unknown) => error)
  await started
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  expect(isAlive(pid)).toBe(true)
  controller.abort()
  expect(await outcome).toMatchObject({ code: 'tool_cancelled' })
  expect(isAlive(pid)).toBe(false)
})

test('a search that is aborted beforehand starts nothing', async () => {
  const folder = makeFolder()
  const program = makeProgram(makeFolder(), 'touch started')
  const request = await requestIn(folder, AbortSignal.abort())
  await expect(searchWithRipgrep(program, folder, request, null)).rejects.toMatchObject({
    code: 'tool_cancelled',
  })
  expect(existsSync(join(folder, 'started'))).toBe(false)
})

test.each([
  ['knows an option less', 'echo "error: unknown option" >&2; exit 2'],
  ['dies', 'kill -9 $$'],
  ['complains without end', 'while :; do echo "error error error error error"; done >&2'],
])('a ripgrep that %s is as good as none', async (_, script) => {
  const folder = makeFolder()
  const request = await requestIn(folder)
  expect(await searchWithRipgrep(makeProgram(makeFolder(), script), folder, request, null)).toBeNull()
  expect(await searchWithRipgrep('/nowhere/rg', folder, request, null)).toBeNull()
})

test('a ripgrep that writes without end is stopped', async () => {
  const folder = makeFolder()
  writeTree(folder, { a: 'x\n' })
  const line = String.raw`while :; do printf './a\0001:x\n./a\0002:x\n./a\0003:x\n./a\0004:x\n'; done`
  const searching = searchWithRipgrep(makeProgram(makeFolder(), line), folder, await requestIn(folder), null)
  await expect(searching).rejects.toMatchObject({ code: 'search_failed' })
}, 30_000)

test('ripgrep has PATH and nothing else of our environment', async () => {
  const folder = makeFolder()
  const program = makeProgram(makeFolder(), 'env > seen')
  await searchWithRipgrep(program, folder, await requestIn(folder), null)
  // What the shell itself adds is not ours.
  const names = readFileSync(join(folder, 'seen'), 'utf8')
    .split('\n')
    .map((line) => line.split('=')[0])
  expect(names.filter((name) => !['', 'PWD', 'OLDPWD', '_', 'SHLVL'].includes(name ?? ''))).toEqual(['PATH'])
})

test('a ripgrep that lies in the workspace is not used', async (context) => {
  const program = await needRipgrep(context)
  expect(await findRipgrep('/')).toBeNull()
  expect(await findRipgrep(join(program, '..'))).not.toBe(program)
})

test('the output of ripgrep is read the same however it is cut', () => {
  const bytes = Buffer.concat([
    Buffer.from(`./a${NUL}1:x\n`),
    Buffer.from(`./new\nline${NUL}2::${NUL}:\n`),
    Buffer.from(`./é${NUL}10:\n`),
  ])
  for (let size = 1; size <= bytes.length; size += 1) {
    const lines: unknown[] = []
    const reader = new RipgrepReader((path, line, text) =>
      lines.push([path.toString(), line, text.toString()]),
    )
    for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size))
    expect(lines).toEqual([
      ['./a', 1, 'x'],
      ['./new\nline', 2, ':\0:'],
      ['./é', 10, ''],
    ])
  }
})
