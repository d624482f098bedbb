import type { InputItem } from '../../protocol/items.ts'
import { contextMessage } from './context-message.ts'
import { fitText } from './fit-text.ts'
import type { FormattedToolEntry } from './format-entry.ts'
import { splitResultText } from './parse-entry.ts'
import type { ToolHistoryStrategy } from './tool-history-strategy.ts'

/**
 * Tells results as text of the user's and leaves the calls out: a model that reads calls as text begins to write calls
 * as text. For endpoints that take no calls as input.
 */
export class TextEmbedStrategy implements ToolHistoryStrategy {
  readonly name = 'text-embed'

  renderEntry({ call, resultText }: FormattedToolEntry): readonly InputItem[] {
    if (call !== undefined) return [contextMessage(call.result, call.parts)]
    return [contextMessage(splitResultText(resultText).text, null)]
  }

  renderSummary(summary: string): readonly InputItem[] {
    if (summary === '') return []
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: fitText(summary) }] }]
  }
}
