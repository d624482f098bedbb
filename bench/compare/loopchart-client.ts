import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type * as Loopchart from '../../src/index.ts'
import type { Client, Continuity } from './client.ts'
import { note, NOTE_DESCRIPTION, NOTE_PARAMETERS } from './note.ts'

// What is built, as users get it. This folder is a package of its own, so `loopchart` is not to be found by that name.
const built = new URL('../../dist/src/index.js', import.meta.url).href
const { agent, openResponses, openStore, run, tool } = (await import(built)) as typeof Loopchart

const noteTool = tool({
  name: 'note',
  description: NOTE_DESCRIPTION,
  inputSchema: NOTE_PARAMETERS,
  execute: ({ text }) => note(typeof text === 'string' ? text : ''),
})

/** The built package as a program uses it: its defaults, one reader of every frame, the log in memory. */
export function loopchartClient(): Client {
  return clientWith({})
}

/** The same with the log in a file, each frame there before it is shown. */
export function loopchartSqliteClient(): Client {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-bench-'))
  const store = openStore(join(folder, 'runs.db'))
  const close = (): void => {
    store.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { ...clientWith({ store }), close }
}

function clientWith(options: Loopchart.RunOptions): Client {
  const agents = new Map<string, Loopchart.Agent>()
  // Made once and used for every run, as programs do.
  const agentOf = (baseUrl: string, continuity: Continuity): Loopchart.Agent => {
    const key = `${continuity} ${baseUrl}`
    const made = agents.get(key) ?? makeAgent(baseUrl, continuity)
    agents.set(key, made)
    return made
  }
  return {
    answer: (baseUrl) => answer(agentOf(baseUrl, 'previous_response_id'), options),
    loop: (baseUrl, continuity) => loop(agentOf(baseUrl, continuity), options),
    first: (baseUrl) => first(agentOf(baseUrl, 'previous_response_id'), options),
  }
}

function makeAgent(baseUrl: string, continuity: Continuity): Loopchart.Agent {
  return agent({
    model: openResponses({ model: 'bench', baseUrl }),
    tools: [noteTool],
    continuity,
    limits: { turns: 1000, toolCalls: 1000 },
  })
}

async function answer(
  agent: Loopchart.Agent,
  options: Loopchart.RunOptions,
): Promise<{ deltas: number; characters: number }> {
  const live = run(agent, 'go', options)
  let [deltas, characters] = [0, 0]
  for await (const frames of live.batches()) {
    for (const frame of frames) {
      if (frame.type !== 'output_text_delta') continue
      deltas += 1
      characters += frame.delta.length
    }
  }
  const { state, text } = await live.result
  if (state !== 'done' || text.length !== characters) throw new Error(`the run ended ${state}`)
  return { deltas, characters }
}

async function first(agent: Loopchart.Agent, options: Loopchart.RunOptions): Promise<bigint> {
  const live = run(agent, 'go', options)
  let at = 0n
  for await (const frames of live.batches()) {
    if (at === 0n && frames.some(({ type }) => type === 'output_text_delta')) at = process.hrtime.bigint()
  }
  return at
}

async function loop(
  agent: Loopchart.Agent,
  options: Loopchart.RunOptions,
): Promise<{ turns: number; text: string }> {
  const live = run(agent, 'go', options)
  let ended = 0
  for await (const frames of live.batches()) {
    for (const { type } of frames) if (type === 'run_ended') ended += 1
  }
  const { state, turns, text } = await live.result
  if (state !== 'done' || ended !== 1) throw new Error(`the run ended ${state} after ${turns} turns`)
  return { turns, text }
}
