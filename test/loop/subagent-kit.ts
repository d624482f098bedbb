import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore, type SqliteStore } from '../../src/journal/open-store.ts'
import type { Run } from '../../src/loop/run.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { everythingElse, scriptedModel, watchedTool, type ScriptedAnswer } from '../scripted-model.ts'

/** Stores of their own for a test, gone after it. */
export function makeStore(): SqliteStore {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-subagent-'))
  const store = openStore(join(folder, 'runs.db'))
  onTestFinished(() => {
    store.close()
    rmSync(folder, { recursive: true })
  })
  return store
}

export const ASK: readonly (readonly [string, string])[] = [['research', '{"input":"find out"}']]

/** An agent that has another one as its tool. */
export function pair(
  inner: readonly ScriptedAnswer[],
  outer: readonly ScriptedAnswer[],
  { tools = [], ...options }: Partial<AgentOptions> = {},
  outerOptions: Partial<AgentOptions> = {},
) {
  const child = scriptedModel(inner, { name: 'inner' })
  const parent = scriptedModel(outer, { name: 'outer' })
  const researcher = agent({ model: child, tools, ...options })
  const research = researcher.asTool({ name: 'research', description: 'Find something out.' })
  return { child, parent, agent: agent({ model: parent, tools: [research], ...outerOptions }) }
}

export async function framesUntilEnd(live: Run): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  for await (const frame of live) frames.push(frame)
  return frames
}

export function asking(ran: unknown[]): Tool {
  return watchedTool('pay', (args) => (ran.push(args), 'paid'), { needsApproval: true }).tool
}

export function hasFrame(store: SqliteStore, runId: string, type: Frame['type']): boolean {
  return [...store.read(runId)].some((frame) => frame.type === type)
}

export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000; turn += 1) {
    if (condition()) return
    await everythingElse()
  }
  throw new Error('it never came to that')
}
