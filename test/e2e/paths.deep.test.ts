import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test, vi } from 'vitest'

import { loopFold } from '../../src/chart/loop-fold.ts'
import type { LoopPath } from '../../src/chart/loop-paths.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { run } from '../../src/loop/run.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { loopPaths } from '../../src/testing/index.ts'
import { pathName } from '../../src/testing/loop-paths.ts'
import { turnFor } from '../../src/testing/response-for.ts'
import { cli, framesIn, makeFolder } from '../cli/run-cli.ts'
import { pathAgent } from './path-agent.ts'

vi.setConfig({ testTimeout: 120_000 })

const AGENT = fileURLToPath(new URL('path-agent.ts', import.meta.url))
const ANSWER = 'That is all.'
const PROCESSES = 2

test('every path that a provider and tools alone can bring about gives the same frames from a process over HTTP', async () => {
  const all = await loopPaths(pathAgent('http://127.0.0.1/v1', '.'), { answer: ANSWER, input: 'hello' })
  const outside = all.filter(isFromOutside)
  expect(endsOf(outside)).toEqual(['done', 'failed', 'limitExceeded'])
  const queue = [...outside]
  const work = async (): Promise<void> => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      const [inside, outer] = [await runHere(path), await runAway(path)]
      expect(outer, pathName(path)).toEqual(inside)
      expect(inside.states, pathName(path)).toEqual(statesOf(path))
    }
  }
  await Promise.all(Array.from({ length: PROCESSES }, work))
  expect(outside.length).toBeGreaterThan(20)
})

interface Seen {
  readonly states: readonly string[]
  readonly frames: readonly string[]
  readonly paid: string
}

/** The path in this process. */
async function runHere(path: LoopPath): Promise<Seen> {
  const folder = makeFolder({ 'price.txt': '7' })
  const provider = await startScriptedProvider({ v: 1, turns: scriptOf(path) })
  const frames: Frame[] = []
  for await (const frame of run(pathAgent(provider.url, folder), 'hello')) frames.push(frame)
  await provider.close()
  return seen(frames, folder, provider.url)
}

/** The path in a process of its own, by the command line. */
async function runAway(path: LoopPath): Promise<Seen> {
  const folder = makeFolder({ 'price.txt': '7' })
  const provider = await startScriptedProvider({ v: 1, turns: scriptOf(path) })
  const env = { PATH_AGENT_URL: provider.url, PATH_AGENT_FOLDER: folder }
  const { out, err } = await cli(['run', 'hello', '--agent', `${AGENT}#fromEnvironment`, '--json'], { env })
  await provider.close()
  if (out === '') throw new Error(`no frames: ${err}`)
  return seen(framesIn(out), folder, provider.url)
}

/** What may not differ between two runs: all but times, names of runs and where the provider is. */
function seen(frames: readonly Frame[], folder: string, url: string): Seen {
  const paid = join(folder, 'paid.txt')
  return {
    states: frames.flatMap((frame) => (frame.type === 'state_entered' ? [frame.state] : [])),
    frames: frames.map((frame) =>
      JSON.stringify({ ...frame, ts: 0, run_id: '' })
        .replaceAll(url, 'URL')
        .replaceAll(/(\\?"(?:created_at|completed_at|duration_ms|retry_at|retryAt)\\?":)[\d.]+/gu, '$10')
        .replaceAll(/("request_id":)"[^"]*"/gu, '$1""'),
    ),
    paid: existsSync(paid) ? readFileSync(paid, 'utf8') : '',
  }
}

/** What the provider has to say for the path. */
function scriptOf({ events }: LoopPath): readonly ScriptTurn[] {
  return events.flatMap((event): readonly ScriptTurn[] => {
    if (event.type !== 'xstate.done.actor.respond') return []
    if (event.output.ok) return [turnFor(event.output.response, ANSWER)]
    return [{ fault: { type: 'status', status: event.output.error.retryAt === null ? 400 : 503 } }]
  })
}

/** Whether nobody has to say anything, and nothing of ours has to break: and it comes to an end. */
function isFromOutside(path: LoopPath): boolean {
  const { events } = path
  const isPlain = events.every(
    ({ type }) =>
      type === 'stream.opened' ||
      type === 'xstate.done.actor.respond' ||
      type === 'xstate.done.actor.backoff' ||
      type.startsWith('xstate.done.actor.tool.'),
  )
  return isPlain && isOpenedOnce(path) && endsOf([path]).length === 1
}

// A whole response cannot end without having begun, and one that was refused has not begun.
function isOpenedOnce({ events }: LoopPath): boolean {
  return events.every((event, at) => {
    if (event.type !== 'xstate.done.actor.respond') return true
    const isOpened = events[at - 1]?.type === 'stream.opened'
    return event.output.ok ? isOpened : !isOpened
  })
}

function endsOf(paths: readonly LoopPath[]): readonly string[] {
  const ends = paths.map((path) => statesOf(path).at(-1) ?? '')
  return [...new Set(ends)].filter((state) => !state.startsWith('working.')).sort()
}

function statesOf({ input, events }: LoopPath): readonly string[] {
  const fold = loopFold()
  let step = fold.first(input)
  const states = step.entered.map(({ state }) => state)
  for (const event of events) {
    step = fold.next(step.snapshot, event)
    states.push(...step.entered.map(({ state }) => state))
  }
  return states
}
