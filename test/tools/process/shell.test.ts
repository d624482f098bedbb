import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { JsonObject } from '../../../src/protocol/json.ts'
import { openArtifacts } from '../../../src/tools/artifacts/artifact-store.ts'
import { shellTool, type ShellOptions } from '../../../src/tools/builtin/shell.ts'
import { commandResult } from '../../../src/tools/process/command-result.ts'
import { LIMITS_DEFAULT } from '../../../src/tools/process/limit-argv.ts'
import type { CommandResult } from '../../../src/tools/process/run-command.ts'
import type { CallResult } from '../../../src/tools/run-call.ts'
import type { PreparedCall, Tool } from '../../../src/tools/tool.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { need } from '../../need.ts'
import { readEnvelope, runTool } from '../../unit/tools/run-tool.ts'
import { mark, pidsWith, place, until } from './command-kit.ts'

async function makeShell(shell: ShellOptions = { sandbox: 'off' }): Promise<{ made: Tool; root: string }> {
  const { workspaceRoot, stateFolder } = place()
  const artifacts = openArtifacts(join(stateFolder, 'artifacts'))
  const made = await shellTool({
    workspace: await openWorkspace(workspaceRoot),
    artifacts,
    stateFolder,
    shell,
  })
  return { made, root: workspaceRoot }
}

async function runShell(args: JsonObject, shell?: ShellOptions): Promise<CallResult> {
  const { made } = await makeShell(shell)
  return runTool(made, { args: JSON.stringify(args) })
}

async function prepared(args: JsonObject, shell?: ShellOptions): Promise<PreparedCall> {
  const { made } = await makeShell(shell)
  const preparation = await made.prepare(args)
  if (!preparation.ok) throw new Error(preparation.message)
  return preparation.call
}

test('a text runs in bash in the root of the workspace, with newlines and order kept', async () => {
  const { made, root } = await makeShell()
  const result = await runTool(made, {
    args: JSON.stringify({ command: 'pwd; printf "a\\n\\nb\\n"; echo bad >&2; exit 4' }),
  })
  expect(result).toMatchObject({ outcome: 'error', exitCode: 4, error: { code: 'tool_failed' } })
  expect(readEnvelope(result.output)).toMatchObject({
    stdout: `${root}\na\n\nb\n`,
    stderr: 'bad\n',
    exit_code: 4,
  })
})

test('an argv runs without a shell', async () => {
  const result = await runShell({ argv: ['printf', '%s|', '$HOME', 'a b', '*'] })
  expect(result.outcome).toBe('ok')
  expect(readEnvelope(result.output).stdout).toBe('$HOME|a b|*|')
})

test.each<JsonObject>([
  {},
  { command: 'true', argv: ['true'] },
  { argv: [] },
  { command: '' },
  { command: 'true', timeout_ms: 0 },
  { argv: [1] },
])('arguments %j are refused and nothing runs', async (args) => {
  const result = await runShell(args)
  expect(result.error?.code).toBe('tool_arguments_invalid')
})

test('a timeout is an outcome of its own, with what the command said until then', async () => {
  const result = await runShell({ command: 'echo before; sleep 1000', timeout_ms: 200 })
  expect(result).toMatchObject({ outcome: 'timeout', exitCode: 124, error: { code: 'tool_timeout' } })
  expect(readEnvelope(result.output).stdout).toBe('before\n')
})

test.each([
  [{ argv: ['no-such-program'] }, 'command_not_found', 127],
  [{ argv: ['/etc/passwd'] }, 'command_invalid', 126],
  [{ command: 'kill -ABRT $$' }, 'command_signalled', 134],
])('the end of %j has the code %s', async (args, code, exitCode) => {
  expect(await runShell(args)).toMatchObject({ outcome: 'error', exitCode, error: { code } })
})

test('a limit that is reached has a code of its own and says which', async () => {
  const shell: ShellOptions = { sandbox: 'off', limits: { fileBytesMax: 1000 } }
  const result = await runShell({ argv: ['dd', 'if=/dev/zero', 'of=f', 'bs=1000', 'count=2'] }, shell)
  expect(result.error).toEqual({
    code: 'limit_exceeded',
    message: 'the command was stopped because it wrote a file of more than 1000 bytes',
  })
})

test('a cancelled call ends its processes and answers late with what was said', async () => {
  const seconds = mark()
  const { made } = await makeShell()
  const abort = new AbortController()
  const late = Promise.withResolvers<CallResult>()
  const result = await runTool(made, {
    args: JSON.stringify({ command: `echo ready; sleep ${seconds} & wait` }),
    signal: abort.signal,
    onOutput: (_, text) => text.includes('ready') && abort.abort(),
    onLate: late.resolve,
  })
  expect(result.outcome).toBe('cancelled')
  const answer = await late.promise
  expect(answer.error?.code).toBe('tool_cancelled')
  expect(readEnvelope(answer.output).stdout).toBe('ready\n')
  await until(() => pidsWith(seconds).length === 0, 'its processes are gone')
})

test('the result says of each stream how much there was and where the rest is', async () => {
  const result = await runShell({ command: 'head -c 600000 /dev/zero | tr "\\0" x; echo e >&2' })
  expect(result.artifacts.slice(0, 2)).toEqual([
    {
      stream: 'stdout',
      bytes_total: 600_000,
      bytes_preview: expect.any(Number),
      truncated: true,
      artifact: { id: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 600_000, truncated: false },
    },
    { stream: 'stderr', bytes_total: 2, bytes_preview: 2, truncated: false, artifact: null },
  ])
})

test('two equal commands have equal results', async () => {
  const once = await runShell({ command: 'echo a; echo b >&2; exit 3' })
  const again = await runShell({ command: 'echo a; echo b >&2; exit 3' })
  expect({ ...again, durationMs: 0 }).toEqual({ ...once, durationMs: 0 })
})

test('what runs without a sandbox says so, live and in its result', async () => {
  const { made } = await makeShell()
  const live: string[] = []
  const result = await runTool(made, { args: '{"command":"true"}', onOutput: (_, text) => live.push(text) })
  expect(live).toEqual(['[unsandboxed]\n'])
  expect(result.artifacts).toContainEqual({ unsandboxed: true })
})

test('what runs in the sandbox does not say that it is unsandboxed', async (context) => {
  need(context, 'bubblewrap')
  const result = await runShell({ command: 'echo "$HOME"' }, { sandbox: 'auto' })
  expect(readEnvelope(result.output).stdout).toBe('/tmp/home\n')
  expect(result.artifacts).not.toContainEqual({ unsandboxed: true })
})

test('every command without a sandbox is asked about, unless the user allows it like any other', async () => {
  const args = { command: 'true' }
  expect((await prepared(args)).needsApproval()).toEqual({ reason: 'unsandboxed', isEachTime: true })
  const allowed = await prepared(args, { sandbox: 'off', isUnsandboxedAllowed: true })
  expect(allowed.needsApproval()).toEqual({ reason: 'command', isEachTime: false })
})

test('a command in the sandbox is asked about, and one answer can hold for more', async (context) => {
  need(context, 'bubblewrap')
  const call = await prepared({ command: 'true' }, { sandbox: 'auto' })
  expect(call.needsApproval()).toEqual({ reason: 'command', isEachTime: false })
})

test('a rule sees the exact argv of a command', async () => {
  const text = await prepared({ command: 'npm test' })
  expect(await text.touches()).toEqual([{ kind: 'command', argv: ['bash', '-c', 'npm test'] }])
  const argv = await prepared({ argv: ['npm', 'test'] })
  expect(await argv.touches()).toEqual([{ kind: 'command', argv: ['npm', 'test'] }])
  expect(await (await prepared({})).touches()).toBe('unreadable')
})

test('a person is shown each argument on its own line, in quotes', async () => {
  const call = await prepared({ argv: ['rm', '-rf', 'a b', 'new\nline', '\u202Etxt.exe'] })
  expect(await call.preview()).toBe(
    'run a program with 4 arguments with NO SANDBOX:\n"rm"\n"-rf"\n"a b"\n"new\\nline"\n"\\u202etxt.exe"',
  )
})

test('fault T21: a long script is cut where everybody sees it, its end included', async () => {
  const lines = Array.from({ length: 500 }, (_, at) => `echo ${at}`)
  const call = await prepared({ command: `${lines.join('\n')}\nrm -rf important\n` })
  const shown = (await call.preview()) ?? ''
  expect(shown).toContain('run 501 lines of bash with NO SANDBOX:\necho 0\n')
  expect(shown).toMatch(/\n\[\.\.\. 441 lines with \d+ characters not shown \.\.\.\]\n/)
  expect(shown.endsWith('rm -rf important')).toBe(true)
  const wide = await (await prepared({ command: `echo ${'x'.repeat(50_000)}; rm -rf important` })).preview()
  expect(wide).toMatch(/\[\.\.\. \d+ characters left out \.\.\.\]\nx+; rm -rf important$/)
})

test('fault T14: after a command has removed the workspace, the next one does not run elsewhere', async () => {
  const { made, root } = await makeShell()
  const first = await runTool(made, { args: '{"command":"rm -rf \\"$PWD\\"; exit 0"}' })
  expect(first.outcome).toBe('ok')
  const second = await runTool(made, { args: '{"command":"pwd"}' })
  expect(second.error?.code).toBe('workspace_missing')
  rmSync(root, { recursive: true, force: true })
})

test('the user adds variables by name', async () => {
  const result = await runShell({ command: 'echo "$MINE"' }, { sandbox: 'off', env: { MINE: 'value' } })
  expect(readEnvelope(result.output).stdout).toBe('value\n')
})

test('a result says what could not be held to and what got away', () => {
  const kept = { text: '', bytesTotal: 0, isTruncated: false, artifact: null }
  const result: CommandResult = {
    ending: { kind: 'exited', exitCode: 0 },
    stdout: kept,
    stderr: kept,
    escaped: 2,
    survivors: 1,
    isHeldOpen: true,
    isLimited: false,
    isViewComplete: false,
  }
  const terms = { isSandboxed: true, limits: LIMITS_DEFAULT, timeoutMs: 1000 }
  expect(commandResult(result, terms).artifacts.slice(2)).toEqual([
    { limits: 'time and number of processes only' },
    { secret_files: 'covered in a part of the workspace only' },
    { escaped_processes: 2 },
    { surviving_processes: 1 },
    { streams: 'held open by a process that got away and was not found' },
  ])
})

test('a carriage return counts as the end of a line, and what a terminal would obey is spelled out', async () => {
  const call = await prepared({ command: 'echo safe\rrm -rf x \u202e\u001b[2K\u0007 # \u2066\r\nls\n' })
  expect(await call.preview()).toBe(
    String.raw`run 3 lines of bash with NO SANDBOX:
echo safe\rrm -rf x ⟦U+202E⟧\u001b[2K\u0007 # ⟦U+2066⟧\r
ls`,
  )
})

test('the question about a command says when the sandbox covers a part of the secret files only', async (context) => {
  need(context, 'bubblewrap')
  const { made, root } = await makeShell({ sandbox: 'auto' })
  const shown = async (): Promise<string | null> => {
    const preparation = await made.prepare({ command: 'ls' })
    return preparation.ok ? preparation.call.preview() : null
  }
  expect(await shown()).toBe('run 1 line of bash in the sandbox:\nls')
  mkdirSync(join(root, '1/2/3/4/5/6/7/8'), { recursive: true })
  expect(await shown()).toBe(
    'run 1 line of bash in the sandbox, which covers secret files in a part of the workspace only:\nls',
  )
})
