import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, onTestFinished, test, vi } from 'vitest'

import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { cli, makeFolder, ROOT, saying } from '../cli/run-cli.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

/** An agent whose only tool is another agent, whose only tool needs approval; both calls have the same id. */
async function place(
  launch = "'launched'",
  needsApproval = true,
): Promise<{
  readonly flags: readonly string[]
  readonly effect: string
  store: string
}> {
  const provider = await startScriptedProvider(({ model }, turn) => {
    if (turn > 1) return saying(model === 'inner' ? 'It flew.' : 'All done.')
    const [name, args] = model === 'inner' ? ['launch', {}] : ['pilot', { input: 'fly' }]
    return { output: [{ type: 'function_call', name, arguments: args, call_id: 'call_1' }] }
  })
  onTestFinished(() => provider.close())
  const folder = makeFolder()
  const [store, effect, file] = ['runs.db', 'effect.txt', 'agent.ts'].map((name) => join(folder, name))
  const index = pathToFileURL(join(ROOT, 'src/index.ts')).href
  writeFileSync(
    file ?? '',
    `import { writeFileSync } from 'node:fs'
import { agent, openResponses, tool } from ${JSON.stringify(index)}
const at = (model) => openResponses({ model, baseUrl: ${JSON.stringify(provider.url)}, apiKey: '' })
const launch = tool({ name: 'launch', description: 'Launch.', inputSchema: { type: 'object' }, needsApproval: ${needsApproval},
  execute: () => (writeFileSync(${JSON.stringify(effect)}, 'x'), ${launch}) })
const pilot = agent({ model: at('inner'), tools: [launch] }).asTool({ name: 'pilot', description: 'Flies things.' })
export default agent({ model: at('outer'), tools: [pilot] })
`,
  )
  return { flags: ['--agent', file ?? '', '--store', store ?? ''], effect: effect ?? '', store: store ?? '' }
}

async function outerRun(store: string): Promise<string> {
  const { out } = await cli(['runs', '--json', '--store', store])
  const runs = JSON.parse(out) as { runId: string; model: string }[]
  return runs.find(({ model }) => model === 'outer')?.runId ?? ''
}

test('a call of a subagent that waits is named by its path, and --approve-call with that path lets it run', async () => {
  const { flags, effect, store } = await place()
  const asked = await cli(['run', 'go', ...flags])
  expect([asked.code, existsSync(effect)]).toEqual([5, false])
  expect(asked.err).toContain('--approve-call call_1/call_1 (or --deny-call call_1/call_1)')
  const runId = await outerRun(store)
  const wrong = await cli(['resume', runId, ...flags, '--approve-call', 'call_1'])
  expect([wrong.code, wrong.err]).toEqual([
    2,
    expect.stringContaining('call call_1 does not wait for approval'),
  ])
  const { code, out } = await cli(['resume', runId, ...flags, '--approve-call', 'call_1/call_1'])
  expect([code, out, existsSync(effect)]).toEqual([0, 'All done.\n', true])
})

test('a call of a subagent can be denied by its path', async () => {
  const { flags, effect, store } = await place()
  await cli(['run', 'go', ...flags])
  const { code, out } = await cli(['resume', await outerRun(store), ...flags, '--deny-call', 'call_1/call_1'])
  expect([code, out, existsSync(effect)]).toEqual([0, 'All done.\n', false])
})

test('a call of a subagent that was cut off is named by its path, and --reconcile with that path settles it', async () => {
  const { flags, effect, store } = await place("process.kill(process.pid, 'SIGKILL')", false)
  await cli(['run', 'go', ...flags])
  expect(existsSync(effect)).toBe(true)
  const runId = await outerRun(store)
  const stuck = await cli(['resume', runId, ...flags])
  expect([stuck.code, stuck.err]).toEqual([
    6,
    expect.stringContaining('--reconcile call_1/call_1=done:OUTPUT'),
  ])
  const { code, out } = await cli(['resume', runId, ...flags, '--reconcile', 'call_1/call_1=done:it flew'])
  expect([code, out]).toEqual([0, 'All done.\n'])
})
