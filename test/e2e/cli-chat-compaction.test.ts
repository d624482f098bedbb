import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import { cli, makeFolder, saying } from '../cli/run-cli.ts'
import { echoing } from './cli-chat-kit.ts'
import { logOf, onlyRun, place, runsIn, serve, writeAgent, type Place } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

function calling(callId: string): ScriptTurn {
  return { output: [{ type: 'function_call', name: 'launch', call_id: callId, arguments: { at: callId } }] }
}

test('a compaction in a run is shown with its figures, and a fork at it with --keep-history goes on without it', async () => {
  const provider = await serve(calling('call_a'), calling('call_b'), saying('Gone.'))
  const folder = makeFolder()
  const tool = "{ execute: () => 'It was launched. '.repeat(300) }"
  const more = "compaction: { atItems: 5 }, continuity: 'stateless'"
  const agent = writeAgent(folder, 'agent.ts', provider, tool, more)
  const where: Place = { folder, store: join(folder, 'runs.db'), flags: [] }
  const flags = ['--agent', agent, '--store', where.store]
  const ran = await cli(['run', 'go', ...flags])
  expect([ran.code, ran.out]).toEqual([0, 'Gone.\n'])
  expect(ran.err).toMatch(/^history compacted by rules: [\d,]+ tokens before, [\d,]+ tokens after$/mu)
  const shortened = JSON.stringify(provider.requests.at(-1)?.body).length

  const runId = onlyRun(where)
  const settled = logOf(where, runId).find(
    (frame) => frame.type === 'effect_settled' && frame.id === 'compact',
  )
  const forked = await cli(['fork', runId, '--at', String(settled?.seq), '--keep-history', ...flags])
  expect([forked.code, forked.out]).toEqual([0, 'Gone.\n'])
  const other = runsIn(where).find((row) => row.runId !== runId)?.runId ?? ''
  expect(logOf(where, other).map(({ type }) => type)).not.toContain('history_compacted')
  expect(JSON.stringify(provider.requests.at(-1)?.body).length).toBeGreaterThan(shortened)
})

test('--compact-way says who sums a conversation up, and a line says that it was done', async () => {
  const { flags, store } = place(await echoing())
  const long = `tell me ${'more and more '.repeat(1600)}`
  const talk = [...flags, '--conversation', 'mine', '--compact-way', 'model']
  const input = Array.from({ length: 10 }, () => `${long}\n`).join('')
  const { code, err } = await cli(['chat', ...talk], { input })
  expect(code).toBe(0)
  expect(err).toMatch(/^history compacted by model: [\d,]+ tokens before, [\d,]+ tokens after$/mu)
  const summaries = logOf({ folder: '', store, flags }, 'mine').flatMap((frame) =>
    frame.type === 'history_compacted' ? [frame.figures] : [],
  )
  expect(summaries[0]).toMatchObject({ way: 'model', asked_way: 'model' })
  const again = await cli(['chat', ...talk], { input: 'hello\n' })
  expect(again.err).not.toContain('history compacted')
})
