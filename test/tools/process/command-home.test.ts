import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { makeHome } from '../../../src/tools/process/command-home.ts'
import { place, run } from './command-kit.ts'

const MODULE = fileURLToPath(new URL('../../../src/tools/process/command-home.ts', import.meta.url))

/** What another process of ours finds in its home, where it leaves a file. */
function foundByAnother(stateFolder: string, workspaceRoot: string): readonly string[] {
  const script = `
    import { readdirSync, writeFileSync } from 'node:fs'
    import { makeHome } from ${JSON.stringify(MODULE)}
    const home = makeHome(${JSON.stringify(stateFolder)}, ${JSON.stringify(workspaceRoot)})
    console.log(JSON.stringify(readdirSync(home)))
    writeFileSync(home + '/.gitconfig', 'left')`
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  return JSON.parse(out) as readonly string[]
}

test('what a command leaves in its home is there for the next one of the same process and workspace only', async () => {
  const { workspaceRoot, stateFolder } = place()
  const other = place().workspaceRoot
  await run('echo left > "$HOME/.gitconfig"', { workspaceRoot, stateFolder })
  const { stdout } = await run('cat "$HOME/.gitconfig"', { workspaceRoot, stateFolder })
  expect(stdout.text).toBe('left\n')
  const { stdout: elsewhere } = await run('ls -A "$HOME"', { workspaceRoot: other, stateFolder })
  expect(elsewhere.text).toBe('')
})

test('a process finds its home empty, whatever an earlier one has left there', () => {
  const { workspaceRoot, stateFolder } = place()
  expect(foundByAnother(stateFolder, workspaceRoot)).toEqual([])
  expect(foundByAnother(stateFolder, workspaceRoot)).toEqual([])
  const home = makeHome(stateFolder, workspaceRoot)
  expect(readdirSync(home)).toEqual([])
  expect(statSync(home).mode & 0o777).toBe(0o700)
})

test('a home that a living process works with is not emptied under it', () => {
  const { workspaceRoot, stateFolder } = place()
  const home = makeHome(stateFolder, workspaceRoot)
  writeFileSync(join(home, 'in-use'), '')
  expect(foundByAnother(stateFolder, workspaceRoot)).toEqual(['in-use'])
  expect(existsSync(join(home, 'in-use'))).toBe(true)
})
