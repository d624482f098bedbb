// What a message of the soak asks the model for. It is in the text of the message and in the ids of the calls that come
// of it, so that the provider needs no memory of its own, however a conversation is carried.

export type Kind = (typeof KINDS)[number]

export const KINDS = [
  'plain',
  'long',
  'tool',
  'chain',
  'parallel',
  'throws',
  'timeout',
  'late',
  'approve',
  'deny',
  'subagent',
  'steer',
  'limited',
  'broken',
  'down',
  'cut',
  'reset',
  'torn',
  'stall',
  'silent',
  'cancel-stream',
  'cancel-tool',
  'cancel-wait',
  'abort',
  'close-stream',
  'close-tool',
  'close-approval',
  'abandon',
] as const

export interface Directive {
  /** Small letters and digits; no two messages have the same. */
  readonly id: string
  readonly kind: Kind
  /** How long the answer is. */
  readonly words: number
  readonly a: number
  readonly b: number
}

/** How many calls one after the other a chain has. */
export const CHAIN_LENGTH = 4

/** The directive as text. */
export function markOf({ id, kind, words, a, b }: Directive): string {
  return `soak_${id}_${kind}_${words}_${a}_${b}`
}

const MARK = /soak_([a-z0-9]+)_([a-z-]+)_(\d+)_(\d+)_(\d+)/u

/** The first directive in a text; null: there is none. */
export function findMark(text: string): Directive | null {
  const [, id = '', name = '', words, a, b] = MARK.exec(text) ?? []
  const kind = KINDS.find((known) => known === name)
  return kind === undefined ? null : { id, kind, words: Number(words), a: Number(a), b: Number(b) }
}

/** The id of the call with a number, from 0, that a directive led to. */
export function callIdOf(directive: Directive, number: number): string {
  return `${markOf(directive)}_${number}`
}

/** The number of a call, from its id. */
export function callNumberOf(callId: string): number {
  return Number(callId.slice(callId.lastIndexOf('_') + 1))
}

/** What an agent is told that is a tool: one sum, in a run of its own. */
export function childOf(directive: Directive): Directive {
  return { ...directive, id: `${directive.id}s`, kind: 'tool' }
}

/** What somebody says while the answer is written. */
export function steeredOf(directive: Directive): Directive {
  return { ...directive, id: `${directive.id}t`, kind: 'plain' }
}

/** The answer, which says what the tools gave: it is right only when every part of the loop was. */
export function answerTo({ id, kind, words }: Directive, results: readonly string[]): string {
  const told = results.length === 0 ? '' : ` [${results.join(', ')}]`
  return `${kind} ${id}${told}:${' and so on'.repeat(words)}.`
}

/** Said in the answer of a call that has no result. */
export const NO_RESULT = 'nothing'
