import { agent } from '../../src/agent.ts'
import type { Clock } from '../../src/clock.ts'
import type { Agent } from '../../src/loop/agent.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { tool, type Tool } from '../../src/tools/tool.ts'
import type { ToolContext } from '../../src/tools/tool-settings.ts'
import { Random } from './random.ts'
import { simulatedModel, type ProviderMemory } from './simulated-model.ts'

/** Hears of each call as it begins. */
export type OnRun = (name: string, key: string) => void

/** An agent whose settings are the seed's: the same for every process of a run. */
export function simulatedAgent(
  seed: number,
  random: Random,
  memory: ProviderMemory,
  clock: Clock,
  onRun: OnRun,
): Agent {
  host = { clock, onRun }
  const own = new Random(seed)
  const faultRate = own.pick([0, 0.1, 0.4])
  const models = ['one', 'two'].slice(0, own.between(1, 2))
  const hasFormat = own.chance(0.15)
  return agent({
    model: models.map((name) => ({
      ...simulatedModel(name, random, memory, clock, faultRate),
      isStreamed: own.chance(0.85),
    })),
    tools: TOOLS,
    ...(own.chance(0.5) ? { instructions: 'Be brief.' } : {}),
    limits: {
      turns: own.between(2, 7),
      toolCalls: own.between(1, 9),
      noProgress: own.between(2, 4),
      callsPerResponse: own.between(2, 6),
      ...(own.chance(0.3) ? { tokens: own.between(100, 900) } : {}),
      ...(own.chance(0.3) ? { ms: own.between(500, 20_000) } : {}),
    },
    onLimit: own.pick(['stop', 'wrap_up']),
    onIncomplete: own.pick(['stop', 'continue']),
    continuity: own.pick(['auto', 'stateless', 'previous_response_id']),
    toolExecution: own.pick(['sequential', 'parallel']),
    maxConcurrency: own.between(1, 4),
    retry: { times: own.between(0, 3), waitMs: 100, waitMaxMs: 1000, suspendAfterMs: 5000 },
    ...(own.chance(0.3) ? { followUpMessage: 'Go on.' } : {}),
    ...(own.chance(0.2) ? { compaction: { atTokens: own.between(100, 300), compact: shorten } } : {}),
    ...(own.chance(0.2) ? { compaction: { atItems: own.between(4, 8), keepTokens: 60 } } : {}),
    ...(hasFormat ? { output: { name: 'answer', schema: NUMBER } } : {}),
    clock,
    random: random.next,
  })
}

const NUMBER = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }

function shorten(): Promise<{ ok: true; items: readonly { type: string }[]; usage: null }> {
  const message = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'So far: nothing.' }],
  }
  return Promise.resolve({ ok: true, items: [message], usage: null })
}

// The process that lives; there is one at a time. Tools are made once, since making them compiles their schemas.
let host: { readonly clock: Clock; readonly onRun: OnRun } | null = null

function currentHost(): NonNullable<typeof host> {
  if (host === null) throw new Error('no process lives')
  return host
}

type Execute = (args: JsonObject, context: ToolContext) => unknown

function make(name: string, execute: Execute, settings: Partial<Parameters<typeof tool>[0]> = {}): Tool {
  return tool({
    description: `Does what ${name} does and says so.`,
    inputSchema: NUMBER,
    ...settings,
    name,
    execute: (args: JsonObject, context: ToolContext) => {
      currentHost().onRun(name, context.key)
      return execute(args, context)
    },
  } as Parameters<typeof tool>[0])
}

function later(ms: number, signal: AbortSignal | null): Promise<string> {
  return new Promise((resolve, reject) => {
    const { clock } = currentHost()
    clock.setTimer(clock.now() + ms, () => resolve('at last'))
    signal?.addEventListener('abort', () => reject(new Error('stopped')))
  })
}

function simulatedTools(): readonly Tool[] {
  return [
    make('read', ({ n }) => `read ${JSON.stringify(n)}`, { readOnly: true }),
    make('put', ({ n }) => `put ${JSON.stringify(n)}`, { idempotent: true, outputEncoding: 'raw' }),
    make('post', ({ n }) => ({ posted: n })),
    make('ask', () => 'asked', { needsApproval: true }),
    make('slow', (_, { signal }) => later(700, signal), { timeoutMs: 1000, maxCalls: 3 }),
    make('stubborn', () => later(1500, null), { timeoutMs: 1000, conflicts: ['stubborn'] }),
    make('fail', () => {
      throw new Error('it broke')
    }),
    make(
      'chatty',
      (_, { onOutput }) => {
        onOutput('stdout', 'hello\n')
        onOutput('stderr', 'world\n')
        return 'said'
      },
      { readOnly: true, idempotent: true },
    ),
  ]
}

const TOOLS = simulatedTools()
