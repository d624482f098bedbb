import { agent } from '../../src/agent.ts'
import { conversation } from '../../src/conversation/conversation.ts'
import type { Conversation, ConversationOptions } from '../../src/conversation/conversation-api.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { assistantMessage, functionCall } from '../../src/testing/script-turns.ts'
import { scriptedModel, type ScriptedTurn } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/tools/tool.ts'

/** What the next message of a conversation is told. */
export interface NextContext {
  /** `bundle_id` of `context_compiled`. */
  readonly bundleId: string
  readonly selection: JsonObject
  /** The body of the request, byte for byte. */
  readonly body: string
}

const OPTIONS: Omit<ConversationOptions, 'store'> = {
  id: 'talk',
  toolHistory: { strategy: 'native' },
  context: { budgetTokens: 6000 },
}

/** What a sender may write that machines sort, fold or show differently. */
const MESSAGES = [
  'I am Ada. Où est la bibliothèque ?',
  'İstanbul, ﬁrst, Straße, Ω and \u{1F469}\u200D\u{1F680}',
  '1.234,56 or 1,234.56 on 01/02/2026?',
  'zebra Äpfel apple Zürich',
]

/** Has the conversation that is compiled everywhere: tools, a failure, a summary, letters of many languages. */
export async function haveConversation(store: string): Promise<void> {
  const { talk } = await startConversation(store)
  await talk.close()
}

/** Has it and goes on at once, in the same process and without opening it again. */
export async function liveContext(store: string): Promise<NextContext> {
  return askNext(await startConversation(store))
}

/** Opens a conversation that was had before, and goes on. */
export async function nextContext(store: string): Promise<NextContext> {
  return askNext(open(store, [LAST]))
}

const TURNS = 12
const LAST = assistantMessage('the end')

async function startConversation(store: string): Promise<OpenedTalk> {
  const turns: ScriptedTurn[] = Array.from({ length: TURNS }, (_, at) => [
    [functionCall('sort', { words: [`ä${at}`, 'Z', 'a'], é: at }), functionCall('break', {})],
    assistantMessage(`Answer ${at}: ${'naïve café '.repeat(5)}`),
  ]).flat()
  const opened = open(store, [...turns, LAST])
  for (let at = 0; at < TURNS; at += 1) {
    await opened.talk.send(`${at}. ${MESSAGES[at % MESSAGES.length]}`)
    if (at === 6) await opened.talk.compact()
  }
  return opened
}

/** Sends one more message and gives what the run was told. */
async function askNext({ talk, bodies }: OpenedTalk): Promise<NextContext> {
  await talk.send('And now?')
  await talk.close()
  let bundleId = ''
  let selection: JsonObject = {}
  for await (const frame of talk.frames()) {
    if (frame.type === 'context_selected') selection = frame.selection
    if (frame.type === 'context_compiled') bundleId = frame.bundle_id
  }
  return { bundleId, selection, body: bodies.at(-1) ?? '' }
}

interface OpenedTalk {
  readonly talk: Conversation
  /** Of the requests so far, byte for byte. */
  readonly bodies: readonly string[]
}

function open(store: string, turns: readonly ScriptedTurn[]): OpenedTalk {
  const bodies: string[] = []
  const model = scriptedModel(turns)
  const answering = agent({
    model: {
      ...model,
      send: (request) => {
        bodies.push(request.body)
        return model.send(request)
      },
    },
    continuity: 'stateless',
    tools: [
      tool({
        name: 'sort',
        description: 'Sort words.',
        inputSchema: { type: 'object' },
        execute: ({ words }) => words,
      }),
      tool({
        name: 'break',
        description: 'Break.',
        inputSchema: { type: 'object' },
        execute: () => {
          throw new Error('cassé')
        },
      }),
    ],
  })
  return { talk: conversation(answering, { ...OPTIONS, store }), bodies }
}
