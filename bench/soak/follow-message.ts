import type { Conversation, ConversationTurn, TurnResult } from '../../src/conversation/conversation-api.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { Run } from '../../src/loop/run.ts'
import { markOf, steeredOf, type Directive, type Kind } from './directive.ts'

/** How somebody reads along: everything, the text, a few frames and then no more, or not at all. */
export type Reading = 'frames' | 'text' | 'leave' | 'none'

/** What a message came to, and what was done on the way. */
export interface Followed {
  readonly result: TurnResult
  /** What was said in the middle of the answer was taken. */
  readonly isSteered: boolean
  /** Resolves when the conversation is closed; null: nobody closes it. */
  readonly closing: Promise<void> | null
  /** The text as it was read; null: it was not. */
  readonly text: string | null
}

/** Kinds in which nobody has to do anything for the message to be answered. */
const UNATTENDED: ReadonlySet<Kind> = new Set([
  'plain',
  'long',
  'tool',
  'chain',
  'parallel',
  'throws',
  'timeout',
  'late',
  'subagent',
  'limited',
  'broken',
  'down',
  'cut',
  'reset',
  'torn',
  'stall',
  'silent',
])

export function needsReader({ kind }: Directive): boolean {
  return !UNATTENDED.has(kind)
}

export interface FollowOptions {
  readonly talk: Conversation
  readonly directive: Directive
  readonly reading: Reading
  /** Takes the message back from outside. */
  readonly abort: AbortController
  /** It was closed in the middle before: this time it is seen to its end. */
  readonly isResumed: boolean
}

/** Follows a message to its end, and does on the way what its kind is about. */
export async function followMessage(turn: ConversationTurn, options: FollowOptions): Promise<Followed> {
  const follower = new Follower(turn, options)
  return follower.follow()
}

const LEAVE_AFTER_FRAMES = 5

class Follower {
  readonly #turn: ConversationTurn
  readonly #options: FollowOptions
  #hasActed = false
  #isSteered = false
  #closing: Promise<void> | null = null

  constructor(turn: ConversationTurn, options: FollowOptions) {
    this.#turn = turn
    this.#options = options
  }

  async follow(): Promise<Followed> {
    const text = await this.#read()
    const result = await this.#turn
    return { result, isSteered: this.#isSteered, closing: this.#closing, text }
  }

  async #read(): Promise<string | null> {
    const { reading } = this.#options
    if (reading === 'none') return null
    if (reading === 'text') {
      let text = ''
      for await (const piece of this.#turn.textStream()) text += piece
      return text
    }
    let left = reading === 'leave' ? LEAVE_AFTER_FRAMES : Number.POSITIVE_INFINITY
    for await (const run of this.#turn.runs()) {
      for await (const frame of run) {
        await this.#act(frame, run)
        left -= 1
        if (left === 0) return null
      }
    }
    return null
  }

  async #act(frame: Frame, run: Run): Promise<void> {
    const { directive, isResumed } = this.#options
    if (isResumed) {
      if (frame.type === 'approval_requested') await run.approve(frame.path)
      return
    }
    // Once: a stream has many pieces.
    if (this.#hasActed || !isMoment(directive.kind, frame)) return
    this.#hasActed = true
    await this.#do(frame, run)
  }

  async #do(frame: Frame, run: Run): Promise<void> {
    const { directive, talk, abort } = this.#options
    switch (directive.kind) {
      case 'approve':
        if (frame.type === 'approval_requested') await run.approve(frame.path)
        break
      case 'deny':
        if (frame.type === 'approval_requested') await run.deny(frame.path, 'not today')
        break
      case 'steer':
        this.#isSteered = (await run.steer(markOf(steeredOf(directive)))).answer !== 'refused'
        break
      case 'abort':
        abort.abort()
        break
      case 'cancel-stream':
      case 'cancel-tool':
      case 'cancel-wait':
        await this.#turn.cancel('enough')
        break
      default:
        // Not awaited here: it waits for the run that is read here.
        this.#closing = talk.close()
    }
  }
}

/** Whether this is what somebody waits for to do what a message is about. */
function isMoment(kind: Kind, { type }: Frame): boolean {
  switch (kind) {
    case 'approve':
    case 'deny':
    case 'close-approval':
      return type === 'approval_requested'
    case 'cancel-tool':
    case 'close-tool':
      return type === 'tool_started'
    case 'cancel-wait':
      return type === 'retry_scheduled'
    case 'steer':
    case 'abort':
    case 'cancel-stream':
    case 'close-stream':
    case 'abandon':
      return type === 'output_text_delta'
    default:
      return false
  }
}
