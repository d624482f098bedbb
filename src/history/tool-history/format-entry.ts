import type { PriorCall } from './prior-call.ts'

/** A call and its result as text, between markers that tell them from what people wrote. */
export interface FormattedToolEntry {
  readonly callText: string
  readonly resultText: string
  readonly isError: boolean
  /** The call itself; only entries that somebody else formatted come without it. */
  readonly call?: PriorCall
}

/** Writes a call and its result between their markers. */
export function formatEntry(call: PriorCall): FormattedToolEntry {
  const id = markerWord(call.callId)
  // JSON has `>` only in strings, where it may be escaped.
  const args = call.argumentsText.replaceAll('-->', String.raw`--\u003e`)
  return {
    callText: `<!-- prior-tool: ${markerWord(call.name)} | id: ${id} | args: ${args} -->`,
    resultText: `<!-- prior-tool-result: ${id} -->\n${call.result}`,
    isError: call.isError,
    call,
  }
}

/**
 * A name or id that cannot be taken for a part of the marker: as it is when it is one plain word, otherwise as a JSON
 * string in which `|` and `>` are escaped.
 */
function markerWord(word: string): string {
  if (/^[^\s|"<>]+$/u.test(word)) return word
  return JSON.stringify(word)
    .replaceAll('|', String.raw`\u007c`)
    .replaceAll('>', String.raw`\u003e`)
}
