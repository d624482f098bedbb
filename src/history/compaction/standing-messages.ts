import type { AnyItem } from '../../protocol/items.ts'
import { CONTEXT_HEADING } from '../tool-history/context-message.ts'
import { carriedSummary } from './carried-summary.ts'
import { messageText } from './item-text.ts'
import { readSummaryMessage } from './summary-message.ts'

/**
 * The messages among items that give way which stay as they are, in their order: every prompt, and the newest message in
 * which somebody asks for something. However long they are: a rule or a task that is cut is another one.
 */
export function standingMessages(old: readonly AnyItem[]): readonly AnyItem[] {
  const task = old.findLast(isRequest)
  return old.filter((item) => item === task || isPrompt(item))
}

/** Items that give way without those messages: what a summary stands for. */
export function summarizedItems(old: readonly AnyItem[], standing: readonly AnyItem[]): readonly AnyItem[] {
  const staying = new Set(standing)
  return old.filter((item) => !staying.has(item))
}

/** Whether an item is a message of the user that somebody wrote: no text of the loop's own, no result and no summary. */
export function isRequest(item: AnyItem): boolean {
  if (item.type !== 'message' || item['role'] !== 'user' || isOwnText(item)) return false
  return !isToldResult(item) && carriedSummary(item) === null
}

/** Whether the loop itself said it, so that the model goes on. */
export function isOwnText({ by }: AnyItem): boolean {
  return by === 'loop'
}

/** Whether a message is the result of a call, told as text. */
export function isToldResult(item: AnyItem): boolean {
  return messageText(item).startsWith(`${CONTEXT_HEADING}\n`)
}

/** Whether an item is a message of the system or the developer, and no summary. */
export function isPrompt(item: AnyItem): boolean {
  if (item.type !== 'message' || readSummaryMessage(item) !== null) return false
  return item['role'] === 'system' || item['role'] === 'developer'
}
