import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, test, vi } from 'vitest'

import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/provider/scripted/start-scripted-provider.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import { cli, framesIn, makeFolder, ROOT, saying, startCli } from '../cli/run-cli.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const CALL: ScriptTurn = { output: [{ type: 'function_call', name: 'launch', arguments: { where: 'moon' } }] }

/** A module of a user's with an agent whose one tool is described by the text of an object. */
function agentFile(
  provider: ScriptedProvider,
  tool: string,
  exported = 'export default',
  name = 'agent.ts',
): string {
  const file = join(makeFolder(), name)
  writeFileSync(
    file,
    `import { agent, tool } from ${source('src/index.ts')}
import { openResponses } from ${source('src/provider/open-responses.ts')}
const launch = tool({ name: 'launch', description: 'Launch a rocket somewhere.', inputSchema: { type: 'object' }, ...${tool} })
${exported} agent({ model: openResponses({ model: 'm', baseUrl: ${JSON.stringify(provider.url)}, apiKey: '' }), tools: [launch] })
`,
  )
  return file
}

function source(path: string): string {
  return JSON.stringify(pathToFileURL(join(ROOT, path)).href)
}

const ASKS = "{ needsApproval: true, execute: () => 'launched' }"

test('--agent runs the agent of a module, by its default export or by name', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] })
  const tool = "{ execute: () => 'launched' }"
  const first = await cli(['run', 'go', '--agent', agentFile(provider, tool)])
  const named = agentFile(provider, tool, 'export const rocket =', 'agent.js')
  const second = await cli(['run', 'go', '--agent', `${named}#rocket`])
  const wrong = await cli(['run', 'go', '--agent', named])
  await provider.close()
  expect([first.code, first.out, second.code, second.out]).toEqual([0, 'Gone.\n', 0, 'Gone.\n'])
  expect(first.err).toMatch(/^model m, tools launch$/mu)
  expect(wrong.err).toMatch(/no agent as its default export; take .*agent\.js#rocket \[agent_invalid\]/u)
})

test('an agent of the user sees what the env file sets', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] })
  const envFile = join(makeFolder({ '.env': 'FUEL=hydrazine\nPATH=nowhere\n' }), '.env')
  const tool = "{ execute: () => process.env['FUEL'] + ' ' + (process.env['PATH'] === 'nowhere') }"
  const { out } = await cli([
    'run',
    'go',
    '--agent',
    agentFile(provider, tool),
    '--env-file',
    envFile,
    '--json',
  ])
  await provider.close()
  expect(framesIn(out).find(({ type }) => type === 'tool_ended')).toMatchObject({
    output: expect.stringContaining('hydrazine false'),
  })
})

test('--limit holds for an agent of the user', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] })
  const { code } = await cli(['run', 'go', '--agent', agentFile(provider, ASKS), '--limit', 'turns=1'])
  await provider.close()
  expect(code).toBe(3)
})

test.for([
  ['all', 0, 'ok'],
  ['none', 0, 'denied'],
] as const)('--approve %s answers for the user', async ([whom, expected, outcome]) => {
  const provider = await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] })
  const { code, out } = await cli([
    'run',
    'go',
    '--agent',
    agentFile(provider, ASKS),
    '--approve',
    whom,
    '--json',
  ])
  await provider.close()
  expect(code).toBe(expected)
  const ended = framesIn(out).find(({ type }) => type === 'tool_ended' || type === 'tool_failed')
  expect(ended).toMatchObject({ outcome })
})

test('a call that needs approval ends with exit code 5 when there is nobody to ask', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] })
  const { code, err } = await cli(['run', 'go', '--agent', agentFile(provider, ASKS)])
  await provider.close()
  expect(code).toBe(5)
  expect(err).toContain('needs approval: launch {"where":"moon"}')
  expect(err).toMatch(/there is no terminal to ask on; add --approve all or --approve none\n$/u)
})

test('K11: a second signal ends a run at once', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] })
  const running = startCli([
    'run',
    'go',
    '--agent',
    agentFile(provider, '{ execute: () => new Promise(() => {}) }'),
    '--json',
  ])
  await running.until('out', /"type":"tool_started"/u)
  running.child.kill('SIGINT')
  await running.until('out', /"state":"stopping"/u)
  running.child.kill('SIGINT')
  const { code, out } = await running.done
  await provider.close()
  expect(code).toBe(130)
  expect(framesIn(out).some(({ type }) => type === 'run_ended')).toBe(false)
})

test('a tool with a bug in it is an outcome, and a bug in the module is one line', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] })
  const throwing = await cli([
    'run',
    'go',
    '--agent',
    agentFile(provider, "{ execute: () => { throw new Error('no fuel') } }"),
  ])
  const broken = await cli(['run', 'go', '--agent', agentFile(provider, '{ execute: 1 }')])
  await provider.close()
  expect([throwing.code, throwing.err]).toEqual([0, expect.stringMatching(/-> error, \d+ ms: no fuel\n/u)])
  expect([broken.code, broken.err]).toEqual([
    2,
    expect.stringMatching(/^loopchart: cannot load the agent .*execute must be a function.*\n$/u),
  ])
})

test('what a module and a tool leave open does not hold a run that is over', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] })
  const tool = "{ execute: () => { setInterval(() => {}, 1000); return 'launched' } }"
  const { code, out } = await cli(['run', 'go', '--agent', agentFile(provider, tool)])
  await provider.close()
  expect([code, out]).toEqual([0, 'Gone.\n'])
})

test('a module that never finishes loading is one line', async () => {
  const file = join(makeFolder({ 'agent.mjs': 'await new Promise(() => {})' }), 'agent.mjs')
  const { code, err } = await cli(['run', 'go', '--agent', file])
  expect(code).toBe(2)
  expect(err).toMatch(/^loopchart: cannot load the agent .*never finishes loading.*\[file_unreadable\]\n$/u)
})

test('a question is asked at once, also after output that may end inside of a secret', async () => {
  const calls = [{ output: [...(CALL.output ?? []), ...(CALL.output ?? [])] }, saying('Gone.')]
  const provider = await startScriptedProvider({ v: 1, turns: calls })
  let tool =
    "{ needsApproval: () => asked++ > 0, execute: (_, { onOutput }) => onOutput('stdout', 'results') }"
  tool = `(globalThis.asked = 0, ${tool})`
  const { code, out } = await cli(['run', 'go', '--approve', 'all', '--agent', agentFile(provider, tool)], {
    env: { OPENAI_API_KEY: 'sk-live-0123456789' },
  })
  await provider.close()
  expect([code, out]).toEqual([0, 'Gone.\n'])
})
