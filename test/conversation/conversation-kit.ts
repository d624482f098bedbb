import { onTestFinished } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import { conversation } from '../../src/conversation/conversation.ts'
import type {
  Conversation,
  ConversationOptions,
  TurnResult,
} from '../../src/conversation/conversation-api.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { Agent } from '../../src/loop/agent.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { assistantMessage, functionCall } from '../../src/testing/script-turns.ts'
import {
  scriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../src/testing/scripted-model.ts'
import type { ScriptedTurn } from '../../src/testing/scripted-model.ts'
import { tool, type Tool } from '../../src/tools/tool.ts'

export { assistantMessage as says, functionCall as calls }

/** A tool that adds. */
export function addTool(options: Partial<Parameters<typeof tool>[0]> = {}): Tool {
  return tool({
    name: 'add',
    description: 'Add two numbers.',
    inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
    readOnly: true,
    execute: ({ a, b }: JsonObject) => Number(a) + Number(b),
    ...options,
  } as Parameters<typeof tool>[0])
}

export interface Talk {
  readonly model: ScriptedModel
  readonly agent: Agent
  readonly talk: Conversation
}

export interface TalkOptions extends ConversationOptions {
  readonly agentOptions?: Partial<AgentOptions>
  readonly modelOptions?: ScriptedModelOptions
}

/** A conversation with a model that says what it was told to say; closed after the test. */
export function startTalk(turns: readonly ScriptedTurn[], options: TalkOptions = {}): Talk {
  const { agentOptions = {}, modelOptions = {}, ...rest } = options
  const model = scriptedModel(turns, modelOptions)
  const answering = agent({ model, tools: [addTool()], ...agentOptions })
  const talk = conversation(answering, rest)
  onTestFinished(() => talk.close())
  return { model, agent: answering, talk }
}

/** What a turn said; the reason where it was refused. */
export function textOf(result: TurnResult): string {
  return result.status === 'refused' ? result.reason : result.text
}

/** What was sent as input, request by request. */
export function inputsOf({ requests }: ScriptedModel): readonly (readonly JsonObject[])[] {
  return requests.map(({ input }) => input as readonly JsonObject[])
}

/** The frames that the log of a conversation has so far. */
export async function loggedFrames(talk: Conversation): Promise<readonly Frame[]> {
  await talk.close()
  const frames: Frame[] = []
  for await (const frame of talk.frames()) frames.push(frame)
  return frames
}

/** The frames of one type. */
export function ofType<T extends Frame['type']>(
  frames: readonly Frame[],
  type: T,
): readonly Extract<Frame, { type: T }>[] {
  return frames.filter((frame) => frame.type === type) as Extract<Frame, { type: T }>[]
}
