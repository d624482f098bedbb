import { isJsonObject, parseJson, type Json, type JsonObject } from '../protocol/json.ts'
import type { CreateResponseBody } from '../protocol/requests.ts'
import type { ScriptItem, ScriptTurn } from '../provider/scripted/script.ts'

const FILES_MAX = 3
const EVENT_DELAY_MS = 25

/**
 * What the embedded provider says: it looks at the workspace, counts words, and tells what came back. It reads the
 * outputs of the tools out of the requests, so the answer is about the files that are there.
 */
export function demoScript(request: CreateResponseBody, turn: number): ScriptTurn {
  const output = outputOf(lastOutputs(request), turn)
  return { output, event_delay_ms: EVENT_DELAY_MS }
}

function outputOf(outputs: readonly JsonObject[], turn: number): readonly ScriptItem[] {
  if (turn === 1) {
    return [
      { type: 'message', text: words('Let me see what is in the workspace.') },
      { type: 'function_call', name: 'list_files', arguments: {} },
    ]
  }
  const names = outputs.flatMap(({ files }) => textFiles(files)).slice(0, FILES_MAX)
  if (turn === 2 && names.length > 0) {
    return [
      { type: 'message', text: words(`I will count the words of ${names.join(', ')}.`) },
      ...names.map((path): ScriptItem => ({
        type: 'function_call',
        name: 'count_words',
        arguments: { path },
      })),
    ]
  }
  return [{ type: 'message', text: words(answerOf(outputs)) }]
}

function answerOf(outputs: readonly JsonObject[]): string {
  const counted = outputs.filter(({ words: count }) => typeof count === 'number')
  if (counted.length === 0) return 'There is no text file in the workspace that I could count.'
  const lines = counted.map(
    ({ path, lines, words: count }) =>
      `- ${typeof path === 'string' ? path : '?'}: ${Number(lines)} lines, ${Number(count)} words`,
  )
  const total = counted.reduce((sum, { words: count }) => sum + Number(count), 0)
  return `${lines.join('\n')}\n\nThat makes ${total} words. A scripted provider in this process said this; the loop, the tools and the HTTP between them were real.`
}

function textFiles(files: Json | undefined): readonly string[] {
  if (!Array.isArray(files)) return []
  return files.flatMap((file: Json) => {
    const path = isJsonObject(file) ? file['path'] : undefined
    return typeof path === 'string' && /\.(?:md|txt|csv|json|ts|js)$/u.test(path) ? [path] : []
  })
}

/** What the tools of the last turn gave, in either way of carrying a conversation on. */
function lastOutputs({ input }: CreateResponseBody): readonly JsonObject[] {
  if (!Array.isArray(input)) return []
  const outputs: JsonObject[] = []
  for (const item of input.toReversed()) {
    if (item.type !== 'function_call_output') break
    const said = typeof item.output === 'string' ? resultOf(parseJson(item.output)) : null
    if (said !== null) outputs.unshift(said)
  }
  return outputs
}

/** What the tool returned, out of the envelope that a model sees. */
function resultOf(envelope: Json | undefined): JsonObject | null {
  if (!isJsonObject(envelope)) return null
  const { stdout } = envelope
  const inner = typeof stdout === 'string' ? parseJson(stdout) : undefined
  return isJsonObject(inner) ? inner : envelope
}

/** Text in the pieces in which a model writes it. */
function words(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/gu) ?? [text]
}
