import type {
  LoopResponse,
  ProposedCall,
  RespondError,
  RespondInput,
  RespondOutput,
} from '../../machines/loop.types.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame, RequestSentFrame, ResponseSettledFrame } from '../frames/generated/frame.ts'
import { makeFrame, type FramePayload } from '../frames/make-frame.ts'
import { responseHeadersFrame } from '../frames/turn-frames.ts'
import { outputText } from '../protocol/output-text.ts'
import { tolerant } from '../protocol/tolerant.ts'
import type { AssembledCall, AssembledResponse } from '../stream/assemble-response.ts'
import type { Agent } from './agent.ts'
import type { BuiltRequest } from './build-request.ts'
import type { EffectIo } from './effect.ts'
import type { Model, ResponseHead } from './model.ts'
import { promoteItems } from './promote-items.ts'
import { ResponseRecorder } from './record-response.ts'
import { retryOf } from './retry.ts'
import { checkFormat } from './structured-output.ts'
import { readUsage } from './usage.ts'

/** What settles a request: for the chart, and for the log. */
export type RespondValue = RespondOutput & {
  readonly settled: Omit<FramePayload<ResponseSettledFrame>, 'turn' | 'attempt' | 'decision'>
}

/** The request as it will be sent, or why it cannot be. */
export type Announcement =
  | {
      readonly ok: true
      readonly sent: FramePayload<RequestSentFrame>
      readonly pieces: BuiltRequest['pieces']
      readonly warnings: readonly string[]
    }
  | { readonly ok: false; readonly error: RespondError }

/** Puts the request together: pure, so that what the log says and what is sent are one text. */
export function announceRequest(agent: Agent, input: RespondInput): Announcement {
  try {
    const { text, pieces, warnings } = agent.buildRequest(input)
    const { turn, attempt, kind, mode: continuity } = input
    const { endpoint, name: model } = modelOf(agent, input)
    const sent = { turn, attempt, kind, continuity, endpoint, model, body: text }
    return { ok: true, sent, pieces, warnings }
  } catch (error) {
    if (!(error instanceof LoopchartError)) throw error
    const { code, message } = error
    return { ok: false, error: { ...LET_GO, code, message } }
  }
}

const LET_GO: RespondError = {
  code: 'cancelled',
  message: 'the run let go of the request',
  retryAt: null,
  retriesMax: null,
  isContinuity: false,
  isLost: false,
  isFallback: false,
}

/** One model request and its response. Settles with a value, whatever happens. */
export async function respond(
  agent: Agent,
  input: RespondInput,
  announced: Announcement,
  io: EffectIo,
): Promise<RespondValue> {
  if (!announced.ok) return failed(announced.error, null)
  const { turn, attempt } = input
  let contentType: string | null = null
  let reader: ResponseRecorder | null = null
  let hasBytes = false
  const read = (): ResponseRecorder => (reader ??= openReader(agent, input, contentType, io))
  const leave = (): void => reader?.leave()
  const fault = await modelOf(agent, input).send({
    body: announced.sent.body,
    pieces: announced.pieces,
    idempotencyKey: `${io.runId}/${requestName(input)}`,
    signal: io.signal,
    onHead: (head) => {
      if (!io.isWanted()) return
      io.stamp.tick()
      io.observe(headFrame(turn, attempt, head, io))
      contentType = head.contentType
      // While the model thinks, so that its first word does not wait for it.
      if (head.status >= 200 && head.status < 300) read()
    },
    onChunk: (chunk) => {
      hasBytes = true
      return io.isWanted() && read().feed(chunk)
    },
  })
  if (!io.isWanted()) {
    leave()
    return failed(LET_GO, null)
  }
  if (fault?.body != null && fault.body !== '') {
    io.stamp.tick()
    io.observe(
      makeFrame(io.stamp, 'warning', { cause: 'error_body', figures: { turn, attempt, body: fault.body } }),
    )
  }
  // A connection that broke inside the body is told by the body as well; what the provider said outranks that. One
  // that broke after the response was whole took nothing away.
  const assembled = fault === null || hasBytes ? read().end() : null
  // Whoever waited for the response is old to V8 by now, and would keep all that it was read with until the next
  // collection of everything.
  reader = null
  if (fault !== null && assembled?.error !== null) return failed(retryOf(agent, input, { fault }), assembled)
  if (assembled === null) throw new Error('a response without a body was read')
  if (assembled.error !== null) return failed(retryOf(agent, input, { stream: assembled.error }), assembled)
  return {
    ok: true,
    response: await loopResponse(agent, input, assembled),
    settled: settledPayload(assembled, null),
  }
}

/** The same for every attempt at a request. The same turn said in another way, or to another model, is another one. */
function requestName({ turn, mode, model, previousResponseId }: RespondInput): string {
  const way = previousResponseId === null ? mode : `${mode}/continued`
  return `${turn}/${way}${model === 0 ? '' : `/${model}`}`
}

/** The model that a request goes to. */
function modelOf({ models }: Agent, { model: at }: RespondInput): Model {
  const model = models[at]
  if (model === undefined) throw new Error(`there is no model ${at}`)
  return model
}

function openReader(
  agent: Agent,
  input: RespondInput,
  contentType: string | null,
  io: EffectIo,
): ResponseRecorder {
  const { turn, attempt } = input
  const isBody = contentType === null ? !modelOf(agent, input).isStreamed : /\bjson\b/iu.test(contentType)
  let isOpened = false
  const open = (): void => {
    if (isOpened) return
    isOpened = true
    io.opened()
  }
  return new ResponseRecorder({
    stamp: io.stamp,
    turn,
    attempt,
    profile: agent.profile ?? tolerant,
    shape: isBody ? 'body' : 'stream',
    limits: agent.streamLimits,
    onFrame: (frame: Frame) => {
      io.observe(frame)
      if (frame.type === 'provider_event') open()
    },
    whenShown: (work) => {
      if (io.whenShown === undefined) work()
      else io.whenShown(work)
    },
    onBlock:
      io.observeBlock === undefined
        ? undefined
        : (block, added) => {
            io.observeBlock?.(block, added)
            open()
          },
  })
}

function headFrame(turn: number, attempt: number, head: ResponseHead, io: EffectIo): Frame {
  const { status, requestId, contentType } = head
  return responseHeadersFrame(io.stamp, {
    turn,
    attempt,
    status,
    request_id: requestId,
    content_type: contentType,
  })
}

async function loopResponse(
  agent: Agent,
  { isChoiceSatisfied }: RespondInput,
  assembled: AssembledResponse,
): Promise<LoopResponse> {
  const promoted = promoteItems(agent.tools, assembled)
  const calls: ProposedCall[] = []
  for (const call of promoted.calls) {
    calls.push(proposedCall(call, await agent.tools.appraise(call, isChoiceSatisfied)))
  }
  const text = outputText(assembled.items)
  const isAnswer = calls.length === 0 && assembled.status === 'completed'
  const { output, fault } = isAnswer
    ? await checkFormat(text, agent.checkOutput)
    : { output: null, fault: null }
  return {
    responseId: assembled.responseId,
    status: assembled.status === 'incomplete' ? 'incomplete' : 'completed',
    incompleteReason: assembled.incompleteReason,
    items: promoted.items,
    calls,
    text,
    output: output ?? null,
    formatFault: fault,
    usage: readUsage(assembled.usage),
  }
}

function proposedCall(call: AssembledCall, facts: ProposedCall['facts']): ProposedCall {
  const { slot, outputIndex, itemId, callId, name, disposition } = call
  return { slot, outputIndex, itemId, callId, name, arguments: call.arguments, disposition, facts }
}

function failed(error: RespondError, assembled: AssembledResponse | null): RespondValue {
  const { code, message } = error
  const usage = readUsage(assembled?.usage ?? null)
  return { ok: false, error, usage, settled: settledPayload(assembled, { code, message }) }
}

function settledPayload(
  assembled: AssembledResponse | null,
  error: { readonly code: string; readonly message: string } | null,
): RespondValue['settled'] {
  return {
    response_id: assembled?.responseId ?? null,
    status: error === null ? (assembled?.status ?? 'completed') : 'failed',
    items: assembled?.items ?? [],
    usage: assembled?.usage ?? null,
    error,
  }
}
