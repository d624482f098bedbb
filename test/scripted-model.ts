import { Buffer } from 'node:buffer'

import { agent, type AgentOptions } from '../src/agent.ts'
import type { Frame } from '../src/frames/generated/frame.ts'
import type { Model, ModelRequest, SendFault } from '../src/loop/model.ts'
import { run, type Run, type RunResult } from '../src/loop/run.ts'
import { isJsonObject, parseJson, type JsonObject } from '../src/protocol/json.ts'
import { tool, type Tool } from '../src/tools/tool.ts'
import type { ToolContext } from '../src/tools/tool-settings.ts'
import { sseText, StreamBuilder } from '../scripts/fixtures/stream-builder.ts'
import { ManualClock } from './manual-clock.ts'

/** One answer of a scripted model: the bytes of a stream, or why there are none. */
export type ScriptedAnswer =
  | string
  | Buffer
  | SendFault
  | ((request: ModelRequest) => Promise<SendFault | null>)

export interface ScriptedModel extends Model {
  /** The bodies that were sent, parsed. */
  readonly requests: readonly JsonObject[]
  /** The same, letter for letter. */
  readonly sent: readonly string[]
}

/** A model in this process: feeds its answers, in order, as bytes to the real decoder. */
export function scriptedModel(
  answers: readonly ScriptedAnswer[],
  options: Partial<Model> = {},
): ScriptedModel {
  const requests: JsonObject[] = []
  const sent: string[] = []
  const queue = [...answers]
  return {
    name: 'scripted-1',
    endpoint: 'scripted:',
    isStreamed: true,
    canContinueById: true,
    ...options,
    requests,
    sent,
    send: async (request) => {
      sent.push(request.body)
      const body = parseJson(request.body)
      if (isJsonObject(body)) requests.push(body)
      const answer = queue.shift()
      if (answer === undefined) throw new Error('the script has no further answer')
      if (typeof answer === 'function') return answer(request)
      if (typeof answer === 'object' && 'isRetryable' in answer) return answer
      await Promise.resolve()
      request.onHead({ status: 200, requestId: `req_${requests.length}`, contentType: 'text/event-stream' })
      for (const chunk of chunksOf(Buffer.from(answer))) if (!request.onChunk(chunk)) break
      return null
    },
  }
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}

/** A response that calls tools: name and arguments each, ids by turn. */
export function callsAnswer(turn: number, calls: readonly (readonly [string, string])[]): string {
  const stream = new StreamBuilder(`resp_${turn}`).start()
  calls.forEach(([name, args], at) => {
    const item = {
      type: 'function_call',
      id: `fc_${turn}_${at}`,
      call_id: `call_${turn}_${at}`,
      name,
      arguments: args,
      status: 'completed',
    }
    stream.addItem(at, { ...item, arguments: '', status: 'in_progress' }).doneItem(at, item)
  })
  return sseText(stream.end().events)
}

export function textAnswer(turn: number, text: string): string {
  return sseText(new StreamBuilder(`resp_${turn}`).start().message(0, [text]).end().events)
}

/** A stream made by hand. */
export function streamAnswer(turn: number, fill: (stream: StreamBuilder) => StreamBuilder): string {
  return sseText(fill(new StreamBuilder(`resp_${turn}`).start()).events)
}

/** A whole body under a content type of its own. */
export function bodyAnswer(contentType: string, body: string | Buffer): ScriptedAnswer {
  return (request) => {
    request.onHead({ status: 200, requestId: null, contentType })
    request.onChunk(Buffer.from(body))
    return Promise.resolve(null)
  }
}

/** A provider that says no before there is a body. */
export function refusalAnswer(code: string, isRetryable = false): SendFault {
  const provider = { type: null, code, message: `no: ${code}`, param: null, status: 400, headers: null }
  return { code: 'request_failed', message: `no: ${code}`, provider, isRetryable, retryAt: null }
}

type ToolSettings = Omit<Parameters<typeof tool>[0], 'inputSchema' | 'parameters' | 'execute'>

/** A tool that takes any object, and what it was called with. */
export function watchedTool(
  name: string,
  execute: (args: JsonObject, context: ToolContext) => unknown = () => 'ran',
  settings: Partial<ToolSettings> = {},
): { readonly tool: Tool; readonly ran: JsonObject[] } {
  const ran: JsonObject[] = []
  const made = tool({
    description: `Does what ${name} does and says so.`,
    inputSchema: { type: 'object' },
    ...settings,
    name,
    execute: (args: JsonObject, context: ToolContext) => {
      ran.push(args)
      return execute(args, context)
    },
  })
  return { tool: made, ran }
}

export const ADD: readonly [string, string] = ['add', '{"a":2,"b":3}']

export interface StartedRun {
  readonly live: Run
  readonly model: ScriptedModel
  readonly clock: ManualClock
  /** What the tool `add` was called with. */
  readonly ran: readonly JsonObject[]
}

/** A run over a script, on a clock that stands still, with one tool that adds. */
export function startRun(
  answers: readonly ScriptedAnswer[],
  options: Partial<AgentOptions> = {},
  modelOptions: Partial<Model> = {},
): StartedRun {
  const clock = new ManualClock()
  const model = scriptedModel(answers, modelOptions)
  const { tool: add, ran } = addTool()
  const made = agent({ model, tools: [add], clock, random: () => 0.5, ...options })
  return { live: run(made, 'what is 2+3?', { runId: 'run_1' }), model, clock, ran }
}

function addTool(): { readonly tool: Tool; readonly ran: JsonObject[] } {
  const ran: JsonObject[] = []
  const made = tool({
    name: 'add',
    description: 'Add two numbers and return the sum.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    execute: (args: JsonObject) => {
      ran.push(args)
      return Number(args['a']) + Number(args['b'])
    },
  })
  return { tool: made, ran }
}

export interface FinishedRun {
  readonly result: RunResult
  readonly frames: readonly Frame[]
}

/** Follows a run to its end and lets its waits between two requests pass. */
export async function finishRun({ live, clock }: Pick<StartedRun, 'live' | 'clock'>): Promise<FinishedRun> {
  const frames: Frame[] = []
  for await (const frame of live) {
    frames.push(frame)
    if (frame.type !== 'retry_scheduled') continue
    await everythingElse()
    clock.advance(60_000)
  }
  return { result: await live.result, frames }
}

/** Follows a run until a frame of interest, and until everything that frame sets off without time has happened. */
export async function untilFrame(live: Run, isMeant: (frame: Frame) => boolean): Promise<Frame> {
  for await (const frame of live) {
    if (!isMeant(frame)) continue
    await everythingElse()
    return frame
  }
  throw new Error('the run ended without that frame')
}

/** Resolves when no promise is left that could settle without time or input. */
export function everythingElse(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Frames of one type. */
export function framesOf<Type extends Frame['type']>(
  frames: readonly Frame[],
  type: Type,
): readonly Extract<Frame, { type: Type }>[] {
  return frames.filter((frame): frame is Extract<Frame, { type: Type }> => frame.type === type)
}

export interface ToldOutput {
  readonly callId: string
  readonly text: string
}

/** What a request tells the model about its calls, in order. */
export function toldOutputs(request: JsonObject | undefined): readonly ToldOutput[] {
  const input = request?.['input']
  if (!Array.isArray(input)) return []
  return input
    .filter(isOutput)
    .map((item) => ({ callId: textOf(item['call_id']), text: textOf(item['output']) }))
}

function isOutput(item: unknown): item is JsonObject {
  return isJsonObject(item) && item['type'] === 'function_call_output'
}

/** The types of the items that a request carries, with the roles of messages. */
export function sentTypes(request: JsonObject | undefined): readonly string[] {
  const input = request?.['input']
  if (!Array.isArray(input)) return []
  return input.filter(isJsonObject).map(({ type, role }) => `${textOf(type)} ${textOf(role)}`.trim())
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
