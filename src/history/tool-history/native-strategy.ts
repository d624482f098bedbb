import type { InputItem } from '../../protocol/items.ts'
import { parseJson } from '../../protocol/json.ts'
import { fitText } from './fit-text.ts'
import type { FormattedToolEntry } from './format-entry.ts'
import { parseEntry } from './parse-entry.ts'
import { TextEmbedStrategy } from './text-embed-strategy.ts'
import type { ToolHistoryStrategy } from './tool-history-strategy.ts'

/** Tells calls and results as what they were: a `function_call` and its `function_call_output`. */
export class NativeStrategy implements ToolHistoryStrategy {
  readonly name = 'native'
  readonly #text = new TextEmbedStrategy()

  renderEntry(entry: FormattedToolEntry): readonly InputItem[] {
    const call = parseEntry(entry)
    if (call === null) return this.#text.renderEntry(entry)
    const { sentCallId: id, argumentsText, parts, result } = call
    return [
      {
        type: 'function_call',
        call_id: id,
        name: sentName(call.name),
        arguments: sentArguments(argumentsText),
      },
      { type: 'function_call_output', call_id: id, output: parts ?? fitText(result) },
    ]
  }

  /** A summary is no call: there is only text for it. */
  renderSummary(summary: string): readonly InputItem[] {
    return this.#text.renderSummary(summary)
  }
}

// Open Responses, FunctionCallItemParam: the schema takes no other names.
function sentName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed'
}

// Providers parse the arguments of past calls and refuse the request when they cannot.
function sentArguments(text: string): string {
  return parseJson(text) === undefined ? '{}' : text
}
