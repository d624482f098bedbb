import { codePointLength } from '../protocol/code-point-length.ts'
import type {
  InputFileContentParam,
  InputImageContentParamAutoParam,
  InputTextContentParam,
  InputVideoContent,
  OutputTextContentParam,
  RefusalContentParam,
  UrlCitationParam,
} from '../protocol/generated/openresponses.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { readText } from '../stream/open-item.ts'

/** The most characters that the protocol takes, by field. */
export const LENGTH_MAX = { text: 10_485_760, image_url: 20_971_520, file_data: 33_554_432 } as const

export type CallerPart = InputTextContentParam | InputImageContentParamAutoParam | InputFileContentParam

/** The most characters of a call id. */
export const CALL_ID_LENGTH_MAX = 64

/** Takes one text for each thing that could not be sent as it was. */
export type Warn = (warning: string) => void

/** The content of a user's message. */
export function userContent(content: Json | undefined, warn: Warn): string | readonly CallerPart[] {
  return readContent(content, callerPart, warn)
}

/** The content of a system's or a developer's message: text only. */
export function promptContent(
  content: Json | undefined,
  warn: Warn,
): string | readonly InputTextContentParam[] {
  return readContent(content, textPart, warn)
}

/** The content of a message that the model put out, as far as it may be put in again. */
export function assistantContent(
  content: Json | undefined,
  warn: Warn,
): string | readonly (OutputTextContentParam | RefusalContentParam)[] {
  return readContent(content, assistantPart, warn)
}

/** What a tool gave: a text, parts, or, from elsewhere, any JSON, which is sent as its text. */
export function toolOutput(
  output: Json | undefined,
  warn: Warn,
): string | readonly (CallerPart | InputVideoContent)[] {
  if (typeof output === 'string' || Array.isArray(output)) return readContent(output, toolPart, warn)
  return fitText(JSON.stringify(output ?? null), warn)
}

/** A text that the protocol takes: what is over its 10 MiB is cut off, and said to be. */
export function fitText(text: string, warn: Warn): string {
  if (isWithin(text, LENGTH_MAX.text)) return text
  warn(`a text of more than ${LENGTH_MAX.text} characters was cut`)
  const mark = '\n[cut]'
  return text.slice(0, LENGTH_MAX.text - mark.length) + mark
}

/** Whether a text has at most so many characters, which the protocol counts as code points. */
export function isWithin(text: string, lengthMax: number): boolean {
  return text.length <= lengthMax || codePointLength(text) <= lengthMax
}

type ReadPart<Part> = (part: JsonObject, warn: Warn) => Part | null

function readContent<Part>(
  content: Json | undefined,
  read: ReadPart<Part>,
  warn: Warn,
): string | readonly Part[] {
  if (typeof content === 'string') return fitText(content, warn)
  if (!Array.isArray(content)) return []
  return content.flatMap((part: Json): readonly Part[] => {
    const sent = isJsonObject(part) ? read(part, warn) : null
    if (sent !== null) return [sent]
    const type = isJsonObject(part) ? readText(part, 'type') : null
    warn(`a part of type ${quoted(type ?? 'unknown')} cannot be sent and was left out`)
    return []
  })
}

/** A name from outside, for a warning. */
export function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 64))
}

// The three names under which providers send text; only one of them is taken back in each place.
const TEXT_TYPES: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'text'])

function readPartText(part: JsonObject, warn: Warn): string | null {
  const { type, text } = part
  return TEXT_TYPES.has(type) && typeof text === 'string' ? fitText(text, warn) : null
}

function textPart(part: JsonObject, warn: Warn): InputTextContentParam | null {
  const text = readPartText(part, warn)
  return text === null ? null : { type: 'input_text', text }
}

function toolPart(part: JsonObject, warn: Warn): CallerPart | InputVideoContent | null {
  const url = readText(part, 'video_url')
  if (part['type'] === 'input_video' && url !== null) return { type: 'input_video', video_url: url }
  return callerPart(part, warn)
}

function callerPart(part: JsonObject, warn: Warn): CallerPart | null {
  switch (part['type']) {
    case 'input_image':
      return imagePart(part)
    case 'input_file':
      return filePart(part)
    default:
      return textPart(part, warn)
  }
}

function imagePart(part: JsonObject): InputImageContentParamAutoParam | null {
  const { detail } = part
  const source = { ...textField(part, 'image_url'), ...textField(part, 'file_id') }
  if (!isWithin(source.image_url ?? '', LENGTH_MAX.image_url) || Object.keys(source).length === 0) return null
  const isDetail = detail === 'low' || detail === 'high' || detail === 'auto'
  return { type: 'input_image', ...source, ...(isDetail ? { detail } : {}) }
}

function filePart(part: JsonObject): InputFileContentParam | null {
  const source = {
    ...textField(part, 'file_data'),
    ...textField(part, 'file_url'),
    ...textField(part, 'file_id'),
  }
  if (!isWithin(source.file_data ?? '', LENGTH_MAX.file_data) || Object.keys(source).length === 0) return null
  return { type: 'input_file', ...textField(part, 'filename'), ...source }
}

/** The field when it holds a text; nulls, which some providers send for what is not there, are left out. */
export function textField<Key extends string>(
  object: JsonObject,
  key: Key,
): { readonly [Name in Key]?: string } {
  const text = readText(object, key)
  return text === null ? {} : field(key, text)
}

function field<Key extends string>(key: Key, text: string): { readonly [Name in Key]?: string } {
  const holder: { [Name in Key]?: string } = {}
  holder[key] = text
  return holder
}

function assistantPart(part: JsonObject, warn: Warn): OutputTextContentParam | RefusalContentParam | null {
  const { type, refusal, annotations } = part
  if (type === 'refusal' && typeof refusal === 'string')
    return { type: 'refusal', refusal: fitText(refusal, warn) }
  const text = readPartText(part, warn)
  if (text === null) return null
  const cited = Array.isArray(annotations) ? { annotations: annotations.flatMap(citation) } : {}
  return { type: 'output_text', text, ...cited }
}

// Citations of files and containers have no place in an input; log probabilities neither.
function citation(annotation: Json): readonly UrlCitationParam[] {
  if (!isJsonObject(annotation) || annotation['type'] !== 'url_citation') return []
  const { start_index: start, end_index: end, url, title } = annotation
  if (!isIndex(start) || !isIndex(end) || typeof url !== 'string' || typeof title !== 'string') return []
  return [{ type: 'url_citation', start_index: start, end_index: end, url, title }]
}

function isIndex(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}
