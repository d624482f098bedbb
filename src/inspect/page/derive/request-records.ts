import { parseJson, type JsonObject } from '../../../protocol/json.ts'
import { diffJson, type JsonChange } from './diff-json.ts'
import { numberIn, textIn } from './json-fields.ts'

/** A request with the exact text of its body. */
export interface RequestRecord {
  readonly seq: number
  readonly index: number
  readonly turn: number
  /** From 0. */
  readonly attempt: number
  readonly kind: string
  readonly continuity: string
  readonly endpoint: string
  readonly model: string
  readonly body: string
}

/** What changed since the request before. */
export type RequestChanges =
  | { readonly kind: 'first' }
  | { readonly kind: 'same' }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'changed'; readonly changes: readonly JsonChange[]; readonly isCut: boolean }

/** The requests of a run in order. */
export class RequestRecords {
  readonly #all: RequestRecord[] = []
  readonly #changes = new Map<number, RequestChanges>()

  get all(): readonly RequestRecord[] {
    return this.#all
  }

  /** Takes a frame in. */
  add(seq: number, type: string, fields: JsonObject): void {
    if (type !== 'request_sent') return
    this.#all.push({
      seq,
      index: this.#all.length,
      turn: numberIn(fields, 'turn') ?? 0,
      attempt: numberIn(fields, 'attempt') ?? 0,
      kind: textIn(fields, 'kind') ?? 'unknown',
      continuity: textIn(fields, 'continuity') ?? '',
      endpoint: textIn(fields, 'endpoint') ?? '',
      model: textIn(fields, 'model') ?? '',
      body: textIn(fields, 'body') ?? '',
    })
  }

  /** What changed between the request before and this one; worked out when it is first asked for. */
  changesOf(request: RequestRecord): RequestChanges {
    const known = this.#changes.get(request.index)
    if (known !== undefined) return known
    const changes = changesBetween(this.#all[request.index - 1], request)
    this.#changes.set(request.index, changes)
    return changes
  }
}

function changesBetween(before: RequestRecord | undefined, after: RequestRecord): RequestChanges {
  if (before === undefined) return { kind: 'first' }
  if (before.body === after.body) return { kind: 'same' }
  const [old, current] = [parseJson(before.body), parseJson(after.body)]
  if (old === undefined || current === undefined) return { kind: 'not_json' }
  const { changes, isCut } = diffJson(old, current)
  return changes.length === 0 ? { kind: 'same' } : { kind: 'changed', changes, isCut }
}
