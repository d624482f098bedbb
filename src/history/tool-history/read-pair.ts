import type { FunctionCallOutputItemParam } from '../../protocol/generated/openresponses.ts'
import { isJsonObject, parseJson } from '../../protocol/json.ts'
import type { ItemPair } from './pair-items.ts'
import type { OutputPart, PriorCall } from './prior-call.ts'

/** Says whether a result means that its call failed. */
export type IsFailedResult = (result: string) => boolean

/** Makes a call of the history from its items. A call without an output gets a result that says so. */
export function readPair(
  { call, output }: ItemPair,
  sentCallId: string,
  isFailed: IsFailedResult,
): PriorCall {
  const { call_id: callId, name, arguments: argumentsText } = call
  const head = { callId, sentCallId, name, argumentsText }
  if (output === null) {
    return { ...head, result: `No output was recorded for this call of ${name}.`, isError: true, parts: null }
  }
  const { result, parts } = readOutput(output)
  return { ...head, result, isError: isFailed(result), parts }
}

/** The output of a call in words, and the parts that it has besides. */
export function readOutput({ output }: FunctionCallOutputItemParam): Pick<PriorCall, 'result' | 'parts'> {
  if (typeof output === 'string') return { result: output, parts: null }
  return { result: output.map(partText).join('\n'), parts: output }
}

function partText(part: OutputPart): string {
  switch (part.type) {
    case 'input_text':
      return part.text
    case 'input_image':
      return '[image]'
    case 'input_file':
      return `[file${typeof part.filename === 'string' ? ` ${part.filename}` : ''}]`
    case 'input_video':
      return '[video]'
  }
}

/** Whether a result is the envelope of a tool that says it did not go well. */
export function isFailedEnvelope(result: string): boolean {
  // Most results are long and no envelope of a failure: those are not parsed.
  if (!/"ok"\s*:\s*false/u.test(result)) return false
  const envelope = parseJson(result)
  return isJsonObject(envelope) && envelope['ok'] === false
}
