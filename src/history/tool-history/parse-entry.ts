import { parseJson } from '../../protocol/json.ts'
import type { FormattedToolEntry } from './format-entry.ts'
import type { PriorCall } from './prior-call.ts'
import { sentCallId } from './sent-call-ids.ts'

const CALL_START = '<!-- prior-tool: '
const END = ' -->'
const BEFORE_ID = ' | id: '
const BEFORE_ARGS = ' | args: '
// More than a text that means well has; each is one attempt to read JSON.
const PLACES_MAX = 8

/**
 * The call in an entry: the one that it carries, or else what its text says. Null when the text is not in the form of
 * the markers, when it can be read in more than one way, or when the result belongs to another call.
 */
export function parseEntry(entry: FormattedToolEntry): PriorCall | null {
  if (entry.call !== undefined) return entry.call
  const read = readCallText(entry.callText)
  if (read === null) return null
  const { id, text: result } = splitResultText(entry.resultText)
  if (id !== null && id !== read.callId) return null
  return { ...read, sentCallId: sentCallId(read.callId, 0), result, isError: entry.isError, parts: null }
}

/** The id in the marker of a result, and what comes behind it. Without a marker, all of it is the result. */
export function splitResultText(text: string): { readonly id: string | null; readonly text: string } {
  // Only at the begin: further behind, a marker is part of what the tool said.
  const match = /^<!-- prior-tool-result: (.+?) -->\n?/u.exec(text)
  if (match === null) return { id: null, text }
  return { id: wordOf(match[1] ?? ''), text: text.slice(match[0].length) }
}

function readCallText(text: string): Pick<PriorCall, 'name' | 'callId' | 'argumentsText'> | null {
  if (!text.startsWith(CALL_START) || !text.endsWith(END)) return null
  const inner = text.slice(CALL_START.length, -END.length)
  const ids = placesOf(inner, BEFORE_ID)
  const args = placesOf(inner, BEFORE_ARGS)
  if (ids.length > PLACES_MAX || args.length > PLACES_MAX) return null
  const ways = args.flatMap((at) => {
    const argumentsText = inner.slice(at + BEFORE_ARGS.length)
    if (parseJson(argumentsText) === undefined) return []
    return ids
      .filter((idAt) => idAt + BEFORE_ID.length <= at)
      .map((idAt) => ({
        name: wordOf(inner.slice(0, idAt)),
        callId: wordOf(inner.slice(idAt + BEFORE_ID.length, at)),
        argumentsText,
      }))
  })
  // A name that holds a marker of its own would otherwise choose what it is read as.
  return ways.length === 1 ? (ways[0] ?? null) : null
}

function placesOf(text: string, part: string): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0 && places.length <= PLACES_MAX; at = text.indexOf(part, at + 1)) {
    places.push(at)
  }
  return places
}

function wordOf(text: string): string {
  const quoted = text.startsWith('"') ? parseJson(text) : undefined
  return typeof quoted === 'string' ? quoted : text
}
