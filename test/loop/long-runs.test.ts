import { expect, onTestFinished, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import { run } from '../../src/loop/run.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/provider/scripted/start-scripted-provider.ts'
import { replay } from '../../src/replay-run.ts'
import { framesOf, watchedTool } from '../scripted-model.ts'
import { framesUntilEnd } from './subagent-kit.ts'

const TURNS = 20

/** A provider that refuses broken pairs and orphaned reasoning: it thinks and calls until it has called enough. */
async function longTalker(): Promise<ScriptedProvider> {
  let calls = 0
  const provider = await startScriptedProvider((request): ScriptTurn => {
    if (request.tools == null) return { output: [{ type: 'message', text: 'They looked around.' }] }
    calls += 1
    if (calls > TURNS) return { output: [{ type: 'message', text: 'done' }] }
    const args = JSON.stringify({ n: calls, note: 'a long story '.repeat(40) })
    return {
      output: [
        { type: 'reasoning', summary: 'hm' },
        { type: 'function_call', name: 'look', arguments: args },
        { type: 'function_call', name: 'look', arguments: args },
      ],
    }
  })
  onTestFinished(() => provider.close())
  return provider
}

function talkTo(provider: ScriptedProvider, options: Partial<AgentOptions>, onLook: (n: number) => void) {
  const looked: unknown[] = []
  const look = watchedTool('look', ({ n }) => {
    looked.push(n)
    onLook(Number(n))
    return 'seen'
  }).tool
  const model = openResponses({ model: 'm', baseUrl: provider.url, apiKey: 'k', profile: 'openai' })
  const limits = { noProgress: 99, toolCalls: 99 }
  return { looked, live: run(agent({ model, tools: [look], limits, ...options }), 'go') }
}

const WAYS = ['rules', 'model', 'provider'] as const
const MODES = ['previous_response_id', 'stateless', 'auto'] as const

test.for(MODES.flatMap((continuity) => WAYS.map((way) => ({ continuity, way }))))(
  'a run with continuity $continuity that is compacted by $way again and again is never refused',
  async ({ continuity, way }) => {
    const provider = await longTalker()
    const compaction = { way, atItems: 22, keepTokens: 400 }
    const { live, looked } = talkTo(provider, { continuity, compaction }, (n) => {
      // Everything that the provider had stored is gone, in a turn in which nothing is compacted.
      if (n === 4 && continuity !== 'stateless') provider.forget()
    })
    const frames = await framesUntilEnd(live)
    expect(await live.result).toMatchObject({ state: 'done', text: 'done' })
    expect(looked).toHaveLength(2 * TURNS)
    const failed = framesOf(frames, 'response_settled').filter(({ status }) => status === 'failed')
    expect(failed.map(({ error }) => error?.code)).toEqual(
      continuity === 'stateless' ? [] : ['previous_response_not_found'],
    )
    const compacted = framesOf(frames, 'history_compacted')
    expect(compacted.length).toBeGreaterThan(2)
    expect(compacted.every(({ figures }) => figures['way'] === way && figures['detail'] === null)).toBe(true)
    for (const { body } of framesOf(frames, 'request_sent')) expect(itemsIn(body)).toBeLessThan(30)
    expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
  },
)

function itemsIn(text: string): number {
  const body: unknown = JSON.parse(text)
  return isJsonObject(body) && Array.isArray(body['input']) ? body['input'].length : 0
}
