import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { afterEach, expect, test, vi } from 'vitest'

import { findProgram, searchFolders } from '../../../src/tools/process/find-program.ts'
import { freshFolder } from '../workspace/fresh-workspace.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

// There is none of that name on any machine, so only PATH can lead to it.
const NAME = 'loopchart-test-program'

function program(folder: string): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, NAME)
  writeFileSync(path, '#!/bin/sh\n')
  chmodSync(path, 0o755)
  return path
}

test('a program that we rely on is not taken from the workspace, nor through a link that leads there', () => {
  const base = freshFolder()
  const workspace = join(base, 'ws')
  const inside = program(join(workspace, 'bin'))
  symlinkSync(join(workspace, 'bin'), join(base, 'linked-folder'))
  mkdirSync(join(base, 'linked-file'))
  symlinkSync(inside, join(base, 'linked-file', NAME))
  const outside = program(join(base, 'tools'))
  const folders = ['ws/bin', 'linked-folder', 'linked-file'].map((name) => join(base, name))
  vi.stubEnv('PATH', folders.join(delimiter))
  expect(findProgram(NAME, null)).toBe(inside)
  expect(findProgram(NAME, workspace)).toBe(null)
  expect(searchFolders(folders.join(delimiter), workspace)).toEqual([join(base, 'linked-file')])
  vi.stubEnv('PATH', [...folders, join(base, 'tools')].join(delimiter))
  expect(findProgram(NAME, workspace)).toBe(outside)
})

test('what npm puts into PATH is not taken, and the folders of the system are whatever PATH says', () => {
  const base = freshFolder()
  program(join(base, 'node_modules/.bin'))
  vi.stubEnv('PATH', join(base, 'node_modules/.bin'))
  expect(findProgram(NAME, null)).toBe(null)
  vi.stubEnv('PATH', '')
  expect(findProgram('sh', base)).toMatch(/^\/(?:usr\/)?bin\/sh$/u)
})
