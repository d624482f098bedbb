import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test, vi } from 'vitest'

import { agent } from '../../src/agent.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { run } from '../../src/loop/run.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import { isJsonObject, type JsonObject } from '../../src/protocol/json.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/provider/scripted/start-scripted-provider.ts'
import { builtinTools } from '../../src/tools/builtin/builtin-tools.ts'
import { cli, framesIn, makeFolder, saying, type CliResult } from '../cli/run-cli.ts'
import { need } from '../need.ts'
import { logOf, onlyRun, runsIn, serve, type Place } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const READING = ['read_file', 'read', 'list_dir', 'ls', 'glob', 'grep', 'artifact_fetch'] as const
const CHANGING = ['write_file', 'apply_patch', 'shell', 'bash'] as const

function calling(name: string, args: JsonObject, callId = 'call_1'): ScriptTurn {
  return { output: [{ type: 'function_call', name, arguments: args, call_id: callId }] }
}

const TOUCH = calling('shell', { command: 'echo made > made.txt' })
const WRITE = calling('write_file', { path: 'new.txt', content: 'hello\n' })

interface Setup extends Place {
  readonly workspace: string
  readonly provider: ScriptedProvider
  readonly run: (...flags: readonly string[]) => Promise<CliResult>
  readonly resume: (...flags: readonly string[]) => Promise<CliResult>
}

/** A trusted workspace with a provider that is served from here, and a store. */
function setUp(
  provider: ScriptedProvider,
  { files = {}, isTrusted = true }: { files?: Record<string, string>; isTrusted?: boolean } = {},
): Setup {
  const [workspace, folder] = [makeFolder(files), makeFolder()]
  const store = join(folder, 'runs.db')
  const env = { XDG_STATE_HOME: folder }
  const flags = [
    '--base-url',
    provider.url,
    '--model',
    'm',
    '--workspace',
    workspace,
    '--store',
    store,
    ...(isTrusted ? ['--trust'] : []),
  ]
  const drive = (verb: readonly string[], more: readonly string[]): Promise<CliResult> =>
    cli([...verb, ...flags, ...more], { env })
  const where = { folder, store, flags }
  return {
    ...where,
    workspace,
    provider,
    run: (...more) => drive(['run', 'go'], more),
    resume: (...more) => drive(['resume', onlyRun(where)], more),
  }
}

/** What each call of the one run in a store came to. */
function outcomesIn(where: Place): readonly unknown[] {
  return logOf(where, onlyRun(where)).flatMap((frame) =>
    frame.type === 'tool_ended' || frame.type === 'tool_failed' ? [frame.outcome] : [],
  )
}

/** What the last request told the model about the calls. */
function toldIn({ requests }: ScriptedProvider): string {
  return JSON.stringify(requests.at(-1)?.body['input'])
}

test('--approve none denies, tells the model, and goes on to the end', async () => {
  const at = setUp(await serve(WRITE, saying('Then not.')))
  const { code, out } = await at.run('--approve', 'none')
  expect([code, out]).toEqual([0, 'Then not.\n'])
  expect(outcomesIn(at)).toEqual(['denied'])
  expect(toldIn(at.provider)).toContain('this run approves no calls')
  expect(existsSync(join(at.workspace, 'new.txt'))).toBe(false)
})

test('ask without a terminal leaves the run in awaitingApproval with exit code 5, and --approve-call goes on', async () => {
  const at = setUp(await serve(WRITE, saying('Written.')))
  const asked = await at.run()
  expect(asked.code).toBe(5)
  expect(runsIn(at)).toMatchObject([{ state: 'working.executing.awaitingApproval', status: 'open' }])
  const hint = `--base-url ${at.provider.url} --workspace ${at.workspace} --trust --approve-call call_1 (or --deny-call call_1)`
  expect(asked.err).toContain(
    `call call_1 of write_file needs approval (write) and there is no terminal to ask on`,
  )
  expect(asked.err).toContain(hint)
  const again = await at.resume()
  expect([again.code, existsSync(join(at.workspace, 'new.txt'))]).toEqual([5, false])
  const { code, out } = await at.resume('--approve-call', 'call_1')
  expect([code, out]).toEqual([0, 'Written.\n'])
  expect(readFileSync(join(at.workspace, 'new.txt'), 'utf8')).toBe('hello\n')
})

test('several calls that wait are each named, and can be answered in different ways', async () => {
  const both: ScriptTurn = {
    output: [
      {
        type: 'function_call',
        name: 'write_file',
        arguments: { path: 'a.txt', content: 'a' },
        call_id: 'c1',
      },
      {
        type: 'function_call',
        name: 'write_file',
        arguments: { path: 'b.txt', content: 'b' },
        call_id: 'c2',
      },
    ],
  }
  const at = setUp(await serve(both, saying('Half.')))
  const { err } = await at.run()
  expect(err).toMatch(/call c1 of write_file needs approval[^]*call c2 of write_file needs approval/u)
  const { code } = await at.resume('--deny-call', 'c1', '--approve-call', 'c2')
  expect(code).toBe(0)
  expect([existsSync(join(at.workspace, 'a.txt')), existsSync(join(at.workspace, 'b.txt'))]).toEqual([
    false,
    true,
  ])
})

test('--approve all runs the shell in a sandbox', async (context) => {
  need(context, 'bubblewrap')
  const at = setUp(await serve(TOUCH, saying('Made.')))
  const { code, err } = await at.run('--approve', 'all')
  expect([code, outcomesIn(at)]).toEqual([0, ['ok']])
  expect(readFileSync(join(at.workspace, 'made.txt'), 'utf8')).toBe('made\n')
  expect(err).not.toContain('unsandboxed')
})

test('--approve all does not cover a shell without a sandbox: it is asked about, which nobody can answer', async () => {
  const at = setUp(await serve(TOUCH, saying('Made.')))
  const { code, err } = await at.run('--approve', 'all', '--no-sandbox')
  expect([code, existsSync(join(at.workspace, 'made.txt'))]).toEqual([5, false])
  expect(err).toMatch(/^loopchart: unsandboxed: commands of the model run as you/mu)
  expect(err).toContain('--approve all does not cover a command without a sandbox, --allow-unsandboxed does')
  expect(err).toContain('--no-sandbox --approve-call call_1')
})

test('--approve all with --allow-unsandboxed runs the shell without a sandbox', async () => {
  const at = setUp(await serve(TOUCH, saying('Made.')))
  const { code, err } = await at.run('--approve', 'all', '--no-sandbox', '--allow-unsandboxed')
  expect([code, outcomesIn(at)]).toEqual([0, ['ok']])
  expect(existsSync(join(at.workspace, 'made.txt'))).toBe(true)
  expect(err.match(/^loopchart: unsandboxed: /gmu)).toHaveLength(1)
})

test('fault T16: without a sandbox, keys in the environment are warned about, by name', async () => {
  const script = join(makeFolder({ 's.json': JSON.stringify({ v: 1, turns: [saying('Hi.')] }) }), 's.json')
  const args = [
    'run',
    'go',
    '--provider',
    'scripted',
    '--script',
    script,
    '--workspace',
    makeFolder(),
    '--trust',
  ]
  const env = { OPENAI_API_KEY: 'sk-0123456789abcdef' }
  const { err } = await cli([...args, '--no-sandbox'], { env })
  expect(err).toMatch(/^loopchart: OPENAI_API_KEY is in the environment .*\/proc.*--api-key-file/mu)
  expect(err).not.toContain('sk-0123456789abcdef')
  expect((await cli([...args, '--no-sandbox'])).err).not.toContain('/proc')
})

test('--auto-edit writes plain files without asking, and asks about protected ones', async () => {
  const hook = calling('write_file', { path: '.git/hooks/pre-commit', content: 'evil' }, 'call_2')
  const at = setUp(await serve(WRITE, hook, saying('Written.')))
  const { code } = await at.run('--auto-edit')
  expect([code, outcomesIn(at)]).toEqual([5, ['ok']])
  expect(readFileSync(join(at.workspace, 'new.txt'), 'utf8')).toBe('hello\n')
  expect(existsSync(join(at.workspace, '.git'))).toBe(false)
})

test('an untrusted workspace declares only tools that read, in tools and in allowed_tools, and one line says so', async () => {
  const at = setUp(await serve(WRITE, saying('I cannot.')), { isTrusted: false })
  const { code, err } = await at.run('--approve', 'all')
  expect([code, existsSync(join(at.workspace, 'new.txt'))]).toEqual([0, false])
  const { tools, tool_choice: choice } = at.provider.requests[0]?.body ?? {}
  expect(namesIn(tools)).toEqual(READING)
  expect(choice).toMatchObject({ type: 'allowed_tools' })
  expect(namesIn(isJsonObject(choice) ? choice['tools'] : null)).toEqual(READING)
  expect(err.match(/is not trusted: .*loopchart trust .*--trust for this run$/gmu)).toHaveLength(1)
  const trusted = setUp(await serve(saying('Hi.')))
  await trusted.run()
  expect(namesIn(trusted.provider.requests[0]?.body['tools'])).toEqual([...READING, ...CHANGING])
})

function namesIn(tools: unknown): readonly unknown[] {
  return Array.isArray(tools) ? tools.map((one: JsonObject) => one['name']) : []
}

test('a rule of the config file denies a call that nobody would have been asked about', async () => {
  const home = makeFolder()
  const at = setUp(await serve(calling('read_file', { path: 'a.txt' }), saying('No.')), {
    files: { 'a.txt': 'x' },
  })
  mkdirSync(join(home, 'loopchart'))
  const policy = [{ decision: 'deny', tool: 'read_file', path: '*.txt' }]
  writeFileSync(join(home, 'loopchart', 'config.json'), JSON.stringify({ policy }))
  const env = { XDG_STATE_HOME: at.folder, XDG_CONFIG_HOME: home }
  const { code, out } = await cli(['run', 'go', ...at.flags, '--json'], { env })
  expect(code).toBe(0)
  expect(framesIn(out).find(({ type }) => type === 'tool_failed')).toMatchObject({ outcome: 'not_allowed' })
})

test('fault T14: a workspace that is gone suspends the run with exit code 6 and says what to do', async () => {
  const workspace: { path: string } = { path: '' }
  const provider = await startScriptedProvider((_, turn) => {
    if (turn === 2) rmSync(workspace.path, { recursive: true })
    return turn === 3 ? saying('Gone.') : calling('list_dir', {}, `call_${turn}`)
  })
  onTestFinished(() => provider.close())
  const at = setUp(provider)
  workspace.path = at.workspace
  const { code, err } = await at.run()
  expect(code).toBe(6)
  expect(err).toMatch(
    /^loopchart: .*gone.*bring it back, then go on with: loopchart resume .* \[workspace_missing\]$/mu,
  )
  expect(logOf(at, onlyRun(at)).at(-1)?.type).not.toBe('run_ended')
  const missing = await at.resume()
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('there is no folder')])
})

test('fault T21: an answer for other arguments is refused', async () => {
  const at = setUp(await serve(WRITE, saying('Written.')))
  await at.run()
  const tools = await builtinTools({ workspace: at.workspace, stateFolder: makeFolder() })
  const model = openResponses({ model: 'm', baseUrl: at.provider.url, apiKey: '' })
  const store = openStore(at.store)
  const live = run(agent({ model, tools }), { resume: onlyRun(at) }, { store })
  const answer = await live.approve('call_1', { argumentsHash: 'f'.repeat(64) })
  await live.suspend()
  store.close()
  expect(answer).toMatchObject({ answer: 'refused' })
  expect(existsSync(join(at.workspace, 'new.txt'))).toBe(false)
})
