import { isJsonObject, parseJson, type Json, type JsonObject } from '../protocol/json.ts'
import type { CreateResponseBody } from '../protocol/requests.ts'
import type { ScriptItem, ScriptTurn } from '../provider/scripted/script.ts'

const FILES_MAX = 3
const FILE_BYTES_MAX = 64 * 1024
const EVENT_DELAY_MS = 25

/**
 * What the embedded provider says: it lists the workspace, reads a few notes, and tells how long they are. It takes that
 * out of the outputs of the tools in the requests, so the answer is about the files that are there.
 */
export function demoScript(request: CreateResponseBody, turn: number): ScriptTurn {
  return { output: outputOf(lastOutputs(request), turn), event_delay_ms: EVENT_DELAY_MS }
}

function outputOf(outputs: readonly JsonObject[], turn: number): readonly ScriptItem[] {
  if (turn === 1) {
    return [
      { type: 'message', text: words('Let me see what is in the workspace.') },
      { type: 'function_call', name: 'list_dir', arguments: {} },
    ]
  }
  const names = outputs.flatMap(listedFiles).slice(0, FILES_MAX)
  if (turn === 2 && names.length > 0) {
    return [
      { type: 'message', text: words(`I will read ${names.join(', ')}.`) },
      ...names.map((path): ScriptItem => ({ type: 'function_call', name: 'read_file', arguments: { path } })),
    ]
  }
  return [{ type: 'message', text: words(answerOf(outputs)) }]
}

function answerOf(outputs: readonly JsonObject[]): string {
  const texts = outputs.flatMap(({ stdout, ok }) =>
    ok === true && typeof stdout === 'string' ? [stdout] : [],
  )
  if (texts.length === 0) return 'There is no text file in the workspace that I could read.'
  const counts = texts.map((text) => text.split(/\s+/u).filter((word) => word !== '').length)
  const total = counts.reduce((sum, count) => sum + count, 0)
  const each = counts.length === 1 ? '' : ` (${counts.join(' + ')})`
  return `That makes ${total} words${each}. A scripted provider in this process said this; the loop, the tools and the HTTP between them were real.`
}

/** The text files that a listing has, a line each: the name, a tab, the size. */
function listedFiles({ stdout }: JsonObject): readonly string[] {
  if (typeof stdout !== 'string') return []
  return stdout.split('\n').flatMap((line) => {
    const [, name, size] = /^([^"\t]+\.(?:md|txt|csv|json|ts|js))\t(\d+)$/u.exec(line) ?? []
    return name === undefined || Number(size) > FILE_BYTES_MAX ? [] : [name]
  })
}

/** What the tools of the last turn gave, in either way of carrying a conversation on. */
function lastOutputs({ input }: CreateResponseBody): readonly JsonObject[] {
  if (!Array.isArray(input)) return []
  const outputs: JsonObject[] = []
  for (const item of input.toReversed()) {
    if (item.type !== 'function_call_output') break
    const said: Json | undefined = typeof item.output === 'string' ? parseJson(item.output) : undefined
    if (isJsonObject(said)) outputs.unshift(said)
  }
  return outputs
}

/** Text in the pieces in which a model writes it. */
function words(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/gu) ?? [text]
}
