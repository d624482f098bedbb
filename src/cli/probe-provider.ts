import { LoopchartError } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { findingOf, streamFindings, type Finding } from './departures.ts'
import type { ProbeAnswer, SendProbe } from './probe-client.ts'
import { countOf } from './run-figures.ts'

const TOOL: JsonObject = {
  type: 'function',
  name: 'get_weather',
  description: 'Tell the weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
}

/**
 * Has a short conversation with a provider, seven requests at most, and tells how it departs from the specification.
 * Throws what went wrong when the first request comes to nothing: there is nothing to tell then.
 */
export async function probeProvider(send: SendProbe, model: string): Promise<readonly Finding[]> {
  const streamed = await send({
    model,
    input: ask('Say hello in one word.'),
    stream: true,
    max_output_tokens: 1024,
  })
  if (streamed.fault !== null) throw new LoopchartError(streamed.fault.code, streamed.fault.message)
  const whole = await send({ model, input: ask('Say hello in one word.'), max_output_tokens: 1024 })
  const called = await send({
    model,
    input: ask('What is the weather in Oslo? Use the tool.'),
    tools: [TOOL],
    tool_choice: 'required',
    stream: true,
    store: true,
    max_output_tokens: 1024,
  })
  const streams = [streamed, called].filter(isStream).map(({ events }) => events)
  return [
    isStream(streamed)
      ? answerFinding('streamed answer', streamed)
      : {
          topic: 'streamed answer',
          verdict: 'departs',
          detail: `asked for a stream, got ${streamed.contentType ?? 'no type'}`,
        },
    ...streamFindings(streams),
    wholeFinding(whole),
    callFinding(called),
    ...(await followUpFindings(send, model, called)),
    await unknownIdFinding(send, model),
    await compactFinding(send, model),
  ]
}

function ask(content: string): readonly JsonObject[] {
  return [{ type: 'message', role: 'user', content }]
}

function isStream({ contentType, response }: ProbeAnswer): boolean {
  return response !== null && !/\bjson\b/iu.test(contentType ?? '')
}

function answerFinding(topic: string, { response, fault }: ProbeAnswer): Finding {
  if (response === null) return { topic, verdict: 'no answer', detail: fault?.message ?? 'nothing came' }
  const { status, error, items } = response
  // Rules of the strict profile that were broken have lines of their own.
  if (error !== null && error.code !== 'protocol_violation') {
    return { topic, verdict: 'departs', detail: `${error.code}: ${error.message}` }
  }
  return {
    topic,
    verdict: 'as specified',
    detail: `${error === null ? status : 'read'}, ${countOf(items.length, 'item')}`,
  }
}

function wholeFinding(answer: ProbeAnswer): Finding {
  const topic = 'whole answer'
  if (answer.response === null) return answerFinding(topic, answer)
  if (isStream(answer)) return { topic, verdict: 'departs', detail: 'asked for a body, got a stream' }
  const faults = answer.events.flatMap(({ errors, response_errors: more }) => [...errors, ...more])
  return findingOf(topic, faults, countOf(answer.response.items.length, 'item'))
}

function callFinding(answer: ProbeAnswer): Finding {
  const topic = 'tool call'
  if (answer.response === null) return answerFinding(topic, answer)
  const [call] = answer.response.calls
  if (call === undefined) {
    return { topic, verdict: 'departs', detail: 'tool_choice was required, and no tool was called' }
  }
  const { name, disposition } = call
  const faults = [
    ...(name === 'get_weather' ? [] : [`it called ${name}, which it was not given`]),
    ...(disposition === 'ready' ? [] : [`the call is ${disposition}`]),
  ]
  return findingOf(topic, faults, `${name} ${call.arguments}`)
}

async function followUpFindings(
  send: SendProbe,
  model: string,
  called: ProbeAnswer,
): Promise<readonly Finding[]> {
  const call = called.response?.calls[0]
  const id = called.response?.responseId ?? null
  if (call === undefined || id === null) {
    const detail = 'there was no call to follow up'
    return ['previous_response_id', 'unanswered call'].map((topic) => ({
      topic,
      verdict: 'not seen',
      detail,
    }))
  }
  const after = { model, previous_response_id: id, tools: [TOOL], max_output_tokens: 1024 }
  const output = { type: 'function_call_output', call_id: call.callId, output: '{"weather":"sunny"}' }
  const answered = await send({ ...after, input: [output] })
  const unanswered = await send({ ...after, input: ask('Never mind. Say hello.') })
  const topic = 'unanswered call'
  return [
    answered.response === null
      ? { topic: 'previous_response_id', verdict: unsupported(answered), detail: said(answered) }
      : { topic: 'previous_response_id', verdict: 'as specified', detail: 'a follow-up by id was answered' },
    // Without chains, a refusal says nothing about pairing.
    answered.response === null
      ? { topic, verdict: 'not seen', detail: 'no follow-up by id was answered' }
      : refusalFinding(topic, unanswered, 'a follow-up without the output of a call'),
  ]
}

async function unknownIdFinding(send: SendProbe, model: string): Promise<Finding> {
  const body = {
    model,
    previous_response_id: 'resp_that_does_not_exist',
    input: ask('Hello.'),
    max_output_tokens: 64,
  }
  return refusalFinding('unknown previous_response_id', await send(body), 'an id that does not exist')
}

function refusalFinding(topic: string, answer: ProbeAnswer, what: string): Finding {
  const { status, response } = answer
  if (response !== null) return { topic, verdict: 'departs', detail: `${what} was accepted` }
  if (isUnanswered(answer)) return { topic, verdict: 'no answer', detail: said(answer) }
  const isRefused = status === 400 || status === 404 || status === 422
  return { topic, verdict: isRefused ? 'as specified' : 'departs', detail: `${what}: ${said(answer)}` }
}

async function compactFinding(send: SendProbe, model: string): Promise<Finding> {
  const topic = 'compact'
  const answer = await send({ model, input: ask('Hello.') }, 'responses/compact')
  if (answer.fault !== null) return { topic, verdict: unsupported(answer), detail: said(answer) }
  const [event] = answer.events
  const isCompaction = isJsonObject(event?.data) && event.data['object'] === 'response.compaction'
  return findingOf(topic, isCompaction ? [] : ['the answer is not a response.compaction'], 'answered')
}

/** Whether nothing is known: no answer came, or one that says that it might be another one later. */
function isUnanswered({ status, fault }: ProbeAnswer): boolean {
  return status === null || fault?.isRetryable === true
}

function unsupported(answer: ProbeAnswer): Finding['verdict'] {
  return isUnanswered(answer) ? 'no answer' : 'not supported'
}

function said({ status, fault }: ProbeAnswer): string {
  const words = fault?.provider?.message ?? (status === null ? fault?.message : undefined)
  const head = status === null ? 'no answer' : `answered ${status}`
  return words === undefined || words === null ? head : `${head} (${words})`
}
