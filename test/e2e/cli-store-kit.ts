import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { onTestFinished } from 'vitest'

import { agent } from '../../src/agent.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore } from '../../src/journal/open-store.ts'
import type { StoredRun } from '../../src/journal/run-store.ts'
import { run } from '../../src/loop/run.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/provider/scripted/start-scripted-provider.ts'
import { tool } from '../../src/tools/tool.ts'
import { makeFolder, ROOT, saying } from '../cli/run-cli.ts'

export const CALL: ScriptTurn = {
  output: [{ type: 'function_call', name: 'launch', call_id: 'call_7', arguments: { where: 'moon' } }],
}

/** A turn that says a little and then nothing more. */
export const STALLED: ScriptTurn = {
  output: [{ type: 'message', text: ['Wait', ' for', ' it'] }],
  fault: { type: 'stall', at_byte: 3000 },
}

/** A provider that outlives the processes of a test. */
export async function serve(...turns: readonly ScriptTurn[]): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider({ v: 1, turns })
  onTestFinished(() => provider.close())
  return provider
}

export interface Place {
  readonly folder: string
  readonly store: string
  /** What to give to a verb that drives a run. */
  readonly flags: readonly string[]
}

/**
 * A folder with a module of a user's, whose agent has one tool, and with a store. The tool is the text of an object; it
 * may use `did(line)`, which notes something in `effects.txt`, and `hasDone(line)`.
 */
export function place(provider: ScriptedProvider, tool = "{ execute: () => 'launched' }"): Place {
  const folder = makeFolder()
  const store = join(folder, 'runs.db')
  const agent = writeAgent(folder, 'agent.ts', provider, tool)
  return { folder, store, flags: ['--agent', agent, '--store', store] }
}

export function writeAgent(
  folder: string,
  name: string,
  provider: ScriptedProvider,
  tool: string,
  more = "instructions: 'Be brief.'",
): string {
  const file = join(folder, name)
  writeFileSync(
    file,
    `import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { agent, openResponses, tool } from ${JSON.stringify(pathToFileURL(join(ROOT, 'src/index.ts')).href)}
const effects = ${JSON.stringify(join(folder, 'effects.txt'))}
const did = (line) => appendFileSync(effects, line + '\\n')
const hasDone = (line) => existsSync(effects) && readFileSync(effects, 'utf8').includes(line)
const launch = tool({ name: 'launch', description: 'Launch a rocket somewhere.', inputSchema: { type: 'object' }, ...${tool} })
export default agent({ model: openResponses({ model: 'm', baseUrl: ${JSON.stringify(provider.url)}, apiKey: '' }), tools: [launch], ${more} })
`,
  )
  return file
}

/** The runs of a store. */
export function runsIn({ store }: Place): readonly StoredRun[] {
  const opened = openStore(store)
  const runs = opened.list()
  opened.close()
  return runs
}

/** The id of the one run of a store. */
export function onlyRun(where: Place): string {
  const [first, ...others] = runsIn(where)
  if (first === undefined || others.length > 0) throw new Error(`there are ${others.length} others`)
  return first.runId
}

/** The log of a run. */
export function logOf({ store }: Place, runId: string): readonly Frame[] {
  const opened = openStore(store)
  const frames = [...opened.read(runId)]
  opened.close()
  return frames
}

/** The log of a run of two turns, with a call between them, that was made in this process. */
export async function makeLog(
  runId: string,
  output = 'launched',
  given?: ScriptedProvider,
): Promise<readonly Frame[]> {
  const provider = given ?? (await startScriptedProvider({ v: 1, turns: [CALL, saying('Gone.')] }))
  const launch = tool({
    name: 'launch',
    description: 'Launch a rocket somewhere.',
    inputSchema: { type: 'object' },
    execute: () => output,
  })
  const model = openResponses({ model: 'm', baseUrl: provider.url, apiKey: '' })
  const live = run(agent({ model, tools: [launch], instructions: 'Be brief.' }), 'go', { runId })
  const frames: Frame[] = []
  for await (const frame of live) frames.push(frame)
  if (given === undefined) await provider.close()
  return frames
}

/** A store with these logs, in a folder of its own. */
export function storeOf(...logs: readonly (readonly Frame[])[]): string {
  const path = join(makeFolder(), 'runs.db')
  const store = openStore(path)
  for (const frames of logs) store.importRun(frames.map(formatFrame))
  store.close()
  return path
}

/** A file with a log. */
export function fileOf(frames: readonly Frame[]): string {
  return join(
    makeFolder({ 'log.jsonl': frames.map((frame) => `${formatFrame(frame)}\n`).join('') }),
    'log.jsonl',
  )
}
