import type { ResponseCase } from '../chart/response-cases.ts'
import type { ScriptItem, ScriptTurn } from '../provider/scripted/script.ts'
import type { SampleCall } from './sample-calls.ts'

/** A response as the chart sees it. */
export type LoopResponse = ReturnType<ResponseCase>

/** The model speaks. */
export function speaks(text: string): ResponseCase {
  return (context) => ({
    ...responseOf(context),
    items: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
    text,
  })
}

/** The model makes calls. */
export function calls(samples: readonly SampleCall[]): ResponseCase {
  return (context) => {
    const made = samples.map((sample, slot) => ({
      slot,
      outputIndex: slot,
      itemId: `fc_${context.turn}_${slot}`,
      callId: `call_${context.turn}_${slot}`,
      name: sample.name,
      arguments: sample.arguments,
      disposition: 'ready' as const,
      facts: sample.facts,
    }))
    const items = made.map(({ callId, name, arguments: args }) => ({
      type: 'function_call',
      call_id: callId,
      name,
      arguments: args,
    }))
    return { ...responseOf(context), calls: made, items }
  }
}

/** The same response, with as much used as given. */
export function using(base: ResponseCase, totalTokens: number): ResponseCase {
  return (context) => ({
    ...base(context),
    usage: {
      prompt_tokens: totalTokens,
      completion_tokens: 0,
      total_tokens: totalTokens,
      cached: 0,
      reasoning: 0,
    },
  })
}

/** The same response, cut short: its calls are not to be trusted. */
export function cutShort(base: ResponseCase): ResponseCase {
  return (context) => {
    const response = base(context)
    const made = response.calls.map((call) => ({ ...call, disposition: 'truncated' as const }))
    return { ...response, calls: made, status: 'incomplete', incompleteReason: 'max_output_tokens' }
  }
}

/** The same response, of the wrong format. */
export function ofWrongFormat(base: ResponseCase): ResponseCase {
  return (context) => ({ ...base(context), formatFault: 'it is not what was asked for' })
}

function responseOf({ turn, attempt }: Parameters<ResponseCase>[0]): LoopResponse {
  return {
    responseId: `resp_${turn}_${attempt}`,
    status: 'completed',
    incompleteReason: null,
    items: [],
    calls: [],
    text: '',
    output: null,
    formatFault: null,
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cached: 0, reasoning: 0 },
  }
}

/**
 * A response of the chart as what a provider would have to say for it. Where the chart only knows that the model had
 * its say, `answer` is what it said.
 */
export function turnFor(response: LoopResponse, answer: string): ScriptTurn {
  const { calls: made, usage, status, incompleteReason, formatFault } = response
  const text = response.text === '' || formatFault !== null ? response.text : answer
  const output: ScriptItem[] = made.map(({ callId, name, arguments: args }) => ({
    type: 'function_call',
    name,
    arguments: args,
    call_id: callId,
  }))
  if (text !== '') output.unshift({ type: 'message', text })
  const { prompt_tokens: input = 0, completion_tokens: written = 0 } = usage ?? {}
  const turn: ScriptTurn = { output, usage: { input_tokens: input, output_tokens: written } }
  if (status === 'completed') return turn
  return { ...turn, end: { status, reason: incompleteReason ?? 'max_output_tokens' } }
}
