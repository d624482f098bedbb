import { expect, onTestFinished, test, vi } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import { conversation } from '../../src/conversation/conversation.ts'
import type { Conversation, ConversationOptions } from '../../src/conversation/conversation-api.ts'
import { estimateTokens } from '../../src/history/tool-history/estimate-tokens.ts'
import type { Model } from '../../src/loop/model.ts'
import type { ScriptItem } from '../../src/provider/scripted/script.ts'
import { scriptedModel, type ScriptedTurn } from '../../src/testing/scripted-model.ts'
import { tempStore } from '../journal/store-kit.ts'
import { addTool, calls, loggedFrames, ofType, says } from './conversation-kit.ts'

vi.setConfig({ testTimeout: 60_000 })

interface SentTalk {
  readonly talk: Conversation
  /** The bodies of the requests, byte for byte. */
  readonly bodies: readonly string[]
}

interface SentOptions extends ConversationOptions {
  readonly agentOptions?: Partial<AgentOptions>
  readonly modelOptions?: Partial<Model>
}

function startSent(turns: readonly ScriptedTurn[], options: SentOptions = {}): SentTalk {
  const { agentOptions = {}, modelOptions = {}, ...rest } = options
  const bodies: string[] = []
  const model = scriptedModel(turns)
  const recorded: Model = {
    ...model,
    ...modelOptions,
    send: (request) => {
      bodies.push(request.body)
      return model.send(request)
    },
  }
  const base: Partial<AgentOptions> = {
    instructions: 'Be brief.',
    tools: [addTool()],
    continuity: 'stateless',
    request: { store: false, encryptedReasoning: true },
  }
  const talk = conversation(agent({ ...base, ...agentOptions, model: recorded }), rest)
  onTestFinished(() => talk.close())
  return { talk, bodies }
}

// Nothing gives way to a summary.
const WHOLE: ConversationOptions = {
  toolHistory: { strategy: 'native', recentCallsToKeep: Infinity },
  compaction: false,
}

/** The parts of a request that a provider keeps the beginning of, as they are in its bytes. */
interface CachedParts {
  readonly instructions: string
  readonly tools: string
  /** Without what closes it, from where the next request goes on. */
  readonly input: string
}

function cachedParts(body: string): CachedParts {
  const { instructions = null, tools } = JSON.parse(body) as Record<string, unknown>
  const at = body.indexOf(',"input":[')
  expect(at).toBeGreaterThan(0)
  expect(body).toContain(`"tools":${JSON.stringify(tools)}`)
  // It is the last field.
  expect(body.endsWith(']}')).toBe(true)
  return {
    instructions: JSON.stringify(instructions),
    tools: JSON.stringify(tools),
    input: body.slice(at, -2),
  }
}

/** Which requests do not begin as the one before them. */
function broken(parts: readonly string[]): readonly number[] {
  return parts.flatMap((part, at) => (part.startsWith(parts[at - 1] ?? '') ? [] : [at]))
}

const SEALED: ScriptItem = { type: 'reasoning', summary: 'Let me see.', encrypted: 'c2VhbGVk' }

/** Thirty messages: most are answered at once, every third after calls, with words beside them. */
function thirtyTurns(thought: readonly ScriptItem[] = []): readonly ScriptedTurn[] {
  return Array.from({ length: 30 }, (_, at): readonly ScriptedTurn[] => {
    const answer = [...thought, says(`answer ${at}`)]
    if (at % 3 !== 0) return [answer]
    const both = [calls('add', { a: at, b: 1 }), calls('add', { a: at, b: 2 })]
    const said: ScriptItem = { type: 'message', text: `looking at ${at}`, phase: 'commentary' }
    return [[...thought, said, ...both], [...thought, calls('add', '{"a": 1,\t"b": 2}')], answer]
  }).flat()
}

async function sendThirty(talk: Conversation): Promise<void> {
  for (let at = 0; at < 30; at += 1) {
    expect(await talk.send(`message ${at}`)).toMatchObject({ state: 'done', text: `answer ${at}` })
  }
}

test.each([
  ['without reasoning', []],
  ['with sealed reasoning', [SEALED]],
])(
  'Instructions and tools of each request are those of the one before, and its input begins with theirs (%s).',
  async (_, thought) => {
    const { talk, bodies } = startSent(thirtyTurns(thought), WHOLE)
    await sendThirty(talk)
    expect(bodies).toHaveLength(50)
    const parts = bodies.map(cachedParts)
    expect(new Set(parts.map(({ instructions, tools }) => `${instructions}${tools}`)).size).toBe(1)
    expect(broken(parts.map(({ input }) => input))).toEqual([])
  },
)

test('Instructions in a field of their own keep the input as stable as in an item.', async () => {
  const { talk, bodies } = startSent(thirtyTurns(), {
    ...WHOLE,
    agentOptions: { request: { store: false, systemPromptPlacement: 'instructions' } },
  })
  await sendThirty(talk)
  const parts = bodies.map(cachedParts)
  expect(new Set(parts.map(({ instructions }) => instructions))).toEqual(new Set(['"Be brief."']))
  expect(broken(parts.map(({ input }) => input))).toEqual([])
})

test('Where no number of calls counts down in front of it, the whole request is a byte prefix of the next one.', async () => {
  const { talk, bodies } = startSent(thirtyTurns([SEALED]), {
    ...WHOLE,
    modelOptions: { unsupported: ['max_tool_calls'] },
  })
  await sendThirty(talk)
  expect(broken(bodies.map((body) => body.slice(0, -2)))).toEqual([])
})

test('A restart changes no byte of what was sent before.', async () => {
  const store = tempStore()
  const turns = thirtyTurns([SEALED])
  const all: string[] = []
  const left = [...turns]
  for (let part = 0; part < 3; part += 1) {
    const { talk, bodies } = startSent(left, { ...WHOLE, store, id: 'c1' })
    for (let at = part * 10; at < part * 10 + 10; at += 1) await talk.send(`message ${at}`)
    await talk.close()
    left.splice(0, bodies.length)
    all.push(...bodies)
  }
  expect(all).toHaveLength(50)
  expect(broken(all.map((body) => cachedParts(body).input))).toEqual([])
})

test('The requests of a thousand turns stay within the budget, and none is left without its message.', async () => {
  const budgetTokens = 2000
  const turns = Array.from({ length: 1000 }, (_, at) =>
    says(`This is the answer to message ${at}. `.repeat(3)),
  )
  const { talk, bodies } = startSent(turns, {
    context: { budgetTokens },
    compaction: { summaryTokens: 100 },
    agentOptions: { instructions: '', tools: [] },
  })
  for (let at = 0; at < 1000; at += 1) {
    expect(await talk.send(`Message ${at} is about this and that.`)).toMatchObject({ state: 'done' })
  }
  const inputs = bodies.map((body) => (JSON.parse(body) as { input: { content: string }[] }).input)
  const tokens = inputs.map((input) => input.reduce((sum, { content }) => sum + estimateTokens(content), 0))
  expect(Math.max(...tokens)).toBeLessThanOrEqual(budgetTokens)
  // Bounded in bytes as well: what is around the texts does not grow.
  const lengths = bodies.map((body) => body.length)
  expect(Math.max(...lengths.slice(500))).toBeLessThan(Math.max(...lengths.slice(0, 500)) * 1.2)
  expect(inputs.every((input, at) => input.at(-1)?.content.startsWith(`Message ${at} `))).toBe(true)
  const frames = await loggedFrames(talk)
  // Nothing was dropped for the budget: what is not told is in a summary.
  const left = ofType(frames, 'context_selected').flatMap(({ selection }) => selection['left_out'])
  expect(left).toHaveLength(0)
  expect(ofType(frames, 'history_compacted').length).toBeGreaterThan(5)
})
