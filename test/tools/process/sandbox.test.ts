import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { beforeEach, expect, test } from 'vitest'

import { hiddenPlaces } from '../../../src/tools/process/hidden-places.ts'
import { sandboxArgv } from '../../../src/tools/process/sandbox-argv.ts'
import { viewWorkspace } from '../../../src/tools/process/workspace-view.ts'
import { need } from '../../need.ts'
import { place, run } from './command-kit.ts'

const LONG = { timeout: 60_000 }

beforeEach((context) => need(context, 'bubblewrap'))

/** Files of a workspace, by path. */
function workspaceOf(files: Readonly<Record<string, string>>): ReturnType<typeof place> {
  const there = place()
  for (const [path, text] of Object.entries(files)) {
    const file = join(there.workspaceRoot, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return there
}

test('the workspace can be written and the rest of the machine cannot', async () => {
  const there = place()
  const script = 'echo in > a.txt; echo out > /usr/loopchart-test; echo out > /etc/loopchart-test; exit 0'
  const { stderr } = await run(script, { ...there, isSandboxed: true })
  expect(readFileSync(join(there.workspaceRoot, 'a.txt'), 'utf8')).toBe('in\n')
  expect(stderr.text.match(/Read-only file system/g)).toHaveLength(2)
})

test('there is no network, not even to this machine', async () => {
  const server = createServer((socket) => socket.end('reached'))
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const script = `cat < /dev/tcp/127.0.0.1/${port}`
  expect((await run(script)).stdout.text).toBe('reached')
  const inside = await run(script, { isSandboxed: true })
  expect(inside.stdout.text).toBe('')
  expect(inside.stderr.text).toMatch(/unreachable|refused/i)
  server.close()
})

test('only processes of the command are seen, and none has a privilege', async () => {
  const { stdout } = await run('ls -d /proc/[0-9]* | wc -l; grep -E "Cap(Prm|Eff)" /proc/self/status', {
    isSandboxed: true,
  })
  const [count, ...privileges] = stdout.text.trim().split('\n')
  expect(Number(count)).toBeLessThan(8)
  expect(privileges.map((line) => line.split('\t')[1])).toEqual(['0000000000000000', '0000000000000000'])
})

test('the home and the temporary folders of the machine are empty', async () => {
  const there = place()
  writeFileSync(join(dirname(there.workspaceRoot), 'beside.txt'), 'text')
  const { stdout } = await run('ls -A ..; ls -A "$HOME"; ls -A /run; echo "$HOME"', {
    ...there,
    isSandboxed: true,
  })
  expect(stdout.text).toBe('workspace\n/tmp/home\n')
})

test('the keys of a user are not seen, whatever is in the home', () => {
  const folder = mkdtempSync(
    fileURLToPath(new URL('../../../node_modules/.loopchart-home-', import.meta.url)),
  )
  const home = realpathSync(folder)
  for (const name of ['.ssh', '.aws', '.nvm/bin', '.nvm/lib', '.config/loopchart', '.docker/bin']) {
    mkdirSync(join(home, name), { recursive: true })
  }
  const before = process.env['HOME']
  process.env['HOME'] = home
  try {
    const { folders, shown } = hiddenPlaces('/no-such-state', `${home}/.nvm/bin:${home}/.docker/bin:/usr/bin`)
    expect(folders).toContain(home)
    expect(folders).toContain(join(home, '.ssh'))
    expect(shown).toEqual([join(home, '.nvm/bin'), join(home, '.nvm/lib')])
    // A workspace that is the home itself shows its files, but not these.
    const view = { pinned: [], readOnly: [], coveredFiles: [], coveredFolders: [], isComplete: true }
    const sandbox = { path: '/usr/bin/bwrap', flags: [] }
    const argv = sandboxArgv(
      { sandbox, workspaceRoot: home, view, hidden: { folders, files: [], shown: [] } },
      ['true'],
    )
    expect(argv.indexOf(join(home, '.ssh'))).toBeGreaterThan(argv.lastIndexOf('--bind'))
  } finally {
    process.env['HOME'] = before
    rmSync(home, { recursive: true })
  }
})

test('secret files cannot be read, moved or replaced, and other files of like names can', async () => {
  const there = workspaceOf({
    '.env': 'KEY=1',
    '.env.example': 'KEY=',
    'deep/down/server.pem': 'PEM',
    '.aws/credentials': 'AWS',
    'readme.md': 'text',
  })
  const script =
    'cat .env deep/down/server.pem .aws/credentials; mv .env e; echo x > .env; cat .env.example readme.md'
  const { stdout } = await run(script, { ...there, isSandboxed: true })
  expect(stdout.text).toBe('KEY=text')
  expect(readFileSync(join(there.workspaceRoot, '.env'), 'utf8')).toBe('KEY=1')
  expect(readFileSync(join(there.workspaceRoot, '.aws/credentials'), 'utf8')).toBe('AWS')
})

test('a secret file behind a link inside the workspace cannot be read either', async () => {
  const there = workspaceOf({ 'vault/hidden': 'KEY=1' })
  symlinkSync('vault/hidden', join(there.workspaceRoot, '.env'))
  const { stdout } = await run('cat .env vault/hidden', { ...there, isSandboxed: true })
  expect(stdout.text).toBe('')
})

test.each([
  ['write a hook', 'echo evil > .git/hooks/post-commit'],
  ['write the config', 'echo evil >> .git/config'],
  [
    'move the repository away and make another',
    'mv .git g; mkdir -p .git/hooks; echo evil > .git/hooks/post-commit',
  ],
  ['remove the hooks', 'rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/post-commit'],
  ['change what runs in CI', 'echo evil > .github/workflows/ci.yml; echo evil > .gitlab-ci.yml'],
  ['move the CI folder', 'mv .github g; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml'],
  ['change the settings of loopchart', 'echo evil > .loopchart/config.json'],
  [
    'unmount what protects it',
    'unshare -Urm sh -c "umount -l .git/hooks; echo evil > .git/hooks/post-commit"',
  ],
])('a command cannot %s', async (_, script) => {
  const there = workspaceOf({
    '.git/config': 'good',
    '.git/HEAD': 'ref: refs/heads/main',
    '.git/hooks/pre-commit': 'good',
    '.github/workflows/ci.yml': 'good',
    '.gitlab-ci.yml': 'good',
    '.loopchart/config.json': 'good',
  })
  await run(script, { ...there, isSandboxed: true })
  expect(readText(there.workspaceRoot)).not.toContain('evil')
})

function readText(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
}

test('a repository without a folder for hooks gets none that a command can write to', async () => {
  const there = workspaceOf({ '.git/config': 'good' })
  await run('mkdir -p .git/hooks; echo evil > .git/hooks/post-commit', { ...there, isSandboxed: true })
  expect(readdirSync(join(there.workspaceRoot, '.git/hooks'))).toEqual([])
})

test('a protected path that is a link out of the workspace is not followed', async () => {
  const there = place()
  const outside = join(dirname(there.workspaceRoot), 'outside')
  mkdirSync(outside)
  symlinkSync(outside, join(there.workspaceRoot, '.github'))
  symlinkSync('/etc', join(there.workspaceRoot, '.husky'))
  const view = await viewWorkspace(there.workspaceRoot)
  expect(view).toMatchObject({ readOnly: [], coveredFiles: [], coveredFolders: [], pinned: [] })
  const { ending } = await run('echo evil > .github/x', { ...there, isSandboxed: true })
  expect(ending).not.toEqual({ kind: 'exited', exitCode: 0 })
  expect(existsSync(join(outside, 'x'))).toBe(false)
})

test('the whole machine as the workspace is refused', async () => {
  await expect(run('true', { workspaceRoot: '/', isSandboxed: true })).rejects.toMatchObject({
    code: 'command_failed',
  })
})

test('in a home that is the workspace, files are seen and keys are not', async () => {
  const there = workspaceOf({
    '.ssh/id_rsa': 'KEY',
    '.netrc': 'KEY',
    '.config/loopchart/a': 'KEY',
    'a.txt': 'text',
  })
  const before = process.env['HOME']
  process.env['HOME'] = there.workspaceRoot
  try {
    const script = 'cat a.txt .ssh/* .netrc .config/loopchart/*; echo new > b.txt'
    const { stdout, ending } = await run(script, { ...there, isSandboxed: true })
    expect(ending).toEqual({ kind: 'exited', exitCode: 0 })
    expect(stdout.text).toBe('text')
  } finally {
    process.env['HOME'] = before
  }
})

test('what holds for a folder is said once', async () => {
  const there = workspaceOf({
    '.github/workflows/ci.yml': 'x',
    '.github/.env': 'KEY',
    '.ssh/id_rsa': 'x',
    'a/b.txt': '',
  })
  const root = there.workspaceRoot
  expect(await viewWorkspace(root)).toEqual({
    pinned: [],
    readOnly: [join(root, '.github')],
    coveredFiles: [join(root, '.github/.env')],
    coveredFolders: [join(root, '.ssh')],
    isComplete: true,
  })
})

test('git works in the sandbox', async () => {
  const there = place()
  execFileSync('git', ['init', '-q', there.workspaceRoot])
  const script =
    'echo a > a.txt && git add a.txt && git -c user.name=n -c user.email=e@x commit -qm one && git log --format=%s'
  const { stdout, stderr } = await run(script, { ...there, isSandboxed: true })
  expect(stderr.text).toBe('')
  expect(stdout.text).toBe('one\n')
})

test('a name can be anything without being read as a flag or as more than one', async () => {
  const there = workspaceOf({ '--bind': 'x', 'a b\n"c"/.env': 'KEY=1', '$(touch evil)/.env': 'KEY=2' })
  const { stdout, ending } = await run('cat */.env; ls', { ...there, isSandboxed: true })
  expect(ending).toMatchObject({ kind: 'exited' })
  expect(stdout.text).not.toContain('KEY')
  expect(existsSync(join(there.workspaceRoot, 'evil'))).toBe(false)
})

test('a workspace of more entries than are looked at says so', LONG, async () => {
  const there = place()
  for (let at = 0; at < 20_001; at += 1) writeFileSync(join(there.workspaceRoot, `f${at}`), '')
  expect((await viewWorkspace(there.workspaceRoot)).isComplete).toBe(false)
  rmSync(join(there.workspaceRoot, 'f0'))
  expect((await viewWorkspace(there.workspaceRoot)).isComplete).toBe(true)
})

test('secret files are covered eight folders deep, and folders below that are told', async () => {
  const there = workspaceOf({ '1/2/3/4/5/6/7/.env': 'KEY=SEVEN' })
  expect(await viewWorkspace(there.workspaceRoot)).toMatchObject({
    coveredFiles: [join(there.workspaceRoot, '1/2/3/4/5/6/7/.env')],
    isComplete: true,
  })
  mkdirSync(join(there.workspaceRoot, '1/2/3/4/5/6/7/8'))
  expect((await viewWorkspace(there.workspaceRoot)).isComplete).toBe(false)
})

test('a folder with the name of a private key is no key, and a file is', async () => {
  const there = workspaceOf({ 'id_generator/main.py': 'x', id_backup: 'KEY' })
  expect(await viewWorkspace(there.workspaceRoot)).toMatchObject({
    coveredFiles: [join(there.workspaceRoot, 'id_backup')],
    coveredFolders: [],
  })
})

test.for([
  ['bwrap: Creating new namespace failed', 1],
  ['bwrap: execvp x: No such file or directory', 1],
  ['prlimit: failed to execute x: No such file or directory', 127],
  ['prlimit: failed to execute x: Permission denied', 126],
] as const)(
  'a command that prints %j and ends with %i has run, with and without a sandbox',
  async ([text, exitCode]) => {
    for (const isSandboxed of [true, false]) {
      const there = place()
      const argv = ['sh', '-c', `echo done > effect.txt; echo "${text}" >&2; exit ${exitCode}`]
      const { ending } = await run(argv, { ...there, isSandboxed })
      expect([isSandboxed, ending]).toEqual([isSandboxed, { kind: 'exited', exitCode }])
      expect(existsSync(join(there.workspaceRoot, 'effect.txt'))).toBe(true)
    }
  },
)

test('a program that is not there, or is none, is told from one that failed, with and without a sandbox', async () => {
  for (const isSandboxed of [true, false]) {
    const there = workspaceOf({ 'plain.txt': 'text' })
    const kindOf = async (...argv: readonly string[]): Promise<string> =>
      (await run(argv, { ...there, isSandboxed })).ending.kind
    expect(await kindOf('no-such-program')).toBe('not_found')
    expect(await kindOf('./no-such-program')).toBe('not_found')
    expect(await kindOf('./plain.txt')).toBe('not_runnable')
  }
})

test('a command does not get the descriptor on which the sandbox reports', async () => {
  const { stderr } = await run('echo \'{ "exit-code": 0 }\' >&3', { isSandboxed: true })
  expect(stderr.text).toContain('3: Bad file descriptor')
})

test('a workspace that holds the home has a sandbox, in which keys are not seen', async () => {
  const there = workspaceOf({ 'user/.ssh/id_rsa': 'KEY', 'user/.netrc': 'KEY', 'user/a.txt': 'text' })
  const before = process.env['HOME']
  process.env['HOME'] = join(there.workspaceRoot, 'user')
  try {
    const script = 'cat user/a.txt user/.ssh/* user/.netrc; echo new > b.txt && echo written'
    const { stdout, ending } = await run(script, { ...there, isSandboxed: true })
    expect(ending).toEqual({ kind: 'exited', exitCode: 0 })
    expect(stdout.text).toBe('written\n')
  } finally {
    process.env['HOME'] = before
  }
})
