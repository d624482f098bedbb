import { createHash } from 'node:crypto'

import { canonicalJson } from '../../protocol/canonical-json.ts'
import type { InputItem } from '../../protocol/items.ts'
import type { ToolWorkItem } from './tool-work.ts'

/** A compiled context, in one of the two forms that are read and written. `schemas/context-bundle/` describes both. */
export type ContextBundle = RipContextBundle | LoopchartContextBundle

/** Messages and references to summaries, exactly as other readers of this form know them. */
export interface RipContextBundle extends BundleHead {
  readonly schema: 'rip.context_bundle.v1'
  readonly items: readonly (BundleMessage | BundleSummaryRef)[]
}

/** The same, with the work that runs did with tools, and with what a provider made of earlier entries. */
export interface LoopchartContextBundle extends BundleHead {
  readonly schema: 'loopchart.context_bundle.v1'
  readonly items: readonly BundleItem[]
}

interface BundleHead {
  readonly compiler: { readonly id: string; readonly strategy: string }
  readonly source: {
    readonly thread_id: string
    /** The last entry that the compiler saw. */
    readonly from_seq: number
    readonly from_message_id?: string | null
  }
  readonly provenance: BundleProvenance
}

/** For whom and by whom a bundle was made. Says nothing about what is in it, so it is no part of its id. */
export interface BundleProvenance {
  readonly run_session_id: string
  readonly actor_id: string
  readonly origin: string
}

/** Whatever a bundle can hold. */
export type BundleItem = BundleMessage | BundleSummaryRef | BundleToolWork | BundleCompaction

/** A message in full. Answers of the model are messages too; they have no actor. */
export interface BundleMessage {
  readonly type: 'message'
  readonly role: 'system' | 'developer' | 'user' | 'assistant'
  readonly content: string
  readonly actor_id?: string | null
  readonly origin?: string | null
  readonly thread_seq?: number | null
  readonly thread_event_id?: string | null
}

/** Names a summary; its text is never in the bundle. */
export interface BundleSummaryRef {
  readonly type: 'summary_ref'
  readonly artifact_id: string
  readonly note?: string | null
}

/** One whole group: reasoning, what was said, the calls that came of it, and their outputs. */
export interface BundleToolWork {
  readonly type: 'tool_work'
  readonly thread_seq: number
  readonly items: readonly ToolWorkItem[]
}

/** What a provider made of the entries that a summary is about; it stands in the place of all summaries. */
export interface BundleCompaction {
  readonly type: 'compaction'
  /** Names the summary for other providers. */
  readonly artifact_id: string
  readonly endpoint: string
  readonly items: readonly InputItem[]
}

/**
 * The SHA-256, in hex, of the canonical JSON of a bundle without its provenance: the same conversation compiled to
 * the same cut in the same way has the same id, whichever run, machine or person it was compiled for.
 */
export function contextBundleId({ schema, compiler, source, items }: ContextBundle): string {
  return createHash('sha256').update(canonicalJson({ schema, compiler, source, items })).digest('hex')
}

/** The text of a bundle: canonical JSON, so that the same bundle is the same bytes. `parseContextBundle` reads it. */
export function writeContextBundle(bundle: ContextBundle): string {
  return canonicalJson(bundle)
}
