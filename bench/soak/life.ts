import { conversation } from '../../src/conversation/conversation.ts'
import type { Conversation, TurnResult } from '../../src/conversation/conversation-api.ts'
import type { SqliteStore } from '../../src/journal/open-store.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { markOf, type Directive } from './directive.ts'
import { expectedResult, findWrong } from './expected-result.ts'
import { followMessage, type Followed, type Reading } from './follow-message.ts'
import type { SoakWay } from './soak-agents.ts'
import type { Tally } from './tally.ts'

/** Where conversations are had. */
export interface LifePlace {
  readonly store: SqliteStore
  readonly tally: Tally
  /** Lasts as long as the soak, and goes with nearly every message: what is left on it is a leak. */
  readonly lasting: AbortSignal
}

/** One conversation, from its first message to the last. */
export class Life {
  readonly #place: LifePlace
  readonly #way: SoakWay
  readonly #agent: Agent
  #talk: Conversation

  constructor(place: LifePlace, way: SoakWay, id: string) {
    this.#place = place
    this.#way = way
    this.#agent = way.agent()
    this.#talk = this.#open(id)
  }

  get id(): string {
    return this.#talk.id
  }

  close(): Promise<void> {
    return this.#talk.close()
  }

  async reopen(): Promise<void> {
    const { id, entries } = this.#talk
    await this.#talk.close()
    this.#talk = this.#open(id)
    this.#place.tally.reopened += 1
    const found = this.#talk.entries.length
    if (found !== entries.length)
      this.#place.tally.wrong(`${id}: ${entries.length} entries when closed, ${found} now`)
  }

  async compact(): Promise<void> {
    const { status } = await this.#talk.compact()
    if (status === 'compacted') this.#place.tally.compactions += 1
  }

  async fork(): Promise<void> {
    const forked = await this.#talk.fork()
    const before = this.#talk
    this.#talk = forked
    this.#place.tally.forked += 1
    await before.close()
  }

  /** Sends a message and sees it through. What is wrong with what it came to; null: nothing. */
  async say(directive: Directive, reading: Reading): Promise<string | null> {
    const { lasting } = this.#place
    const abort = new AbortController()
    const { signal } = directive.kind === 'abort' ? abort : { signal: lasting }
    const turn = this.#talk.send(messageOf(directive), { signal })
    const options = { talk: this.#talk, directive, reading, abort, isResumed: false }
    const followed = await followMessage(turn, options)
    const through = followed.closing === null ? followed : await this.#goOn(directive, followed, abort)
    if (through === null) return null
    return judge(directive, followed.isSteered, through.result, through.text)
  }

  /** After it was closed in the middle. Null: it was given up, as it had to be. */
  async #goOn(directive: Directive, closed: Followed, abort: AbortController): Promise<Followed | null> {
    await closed.closing
    this.#talk = this.#open(this.id)
    this.#place.tally.reopened += 1
    const { status } = closed.result
    // It may have come to its end first.
    if (status !== 'suspended') return closed
    if (directive.kind === 'abandon') {
      if (!(await this.#talk.abandon())) throw new Error(`${this.id}: there was nothing to abandon`)
      return null
    }
    const options = { talk: this.#talk, directive, reading: 'frames', abort, isResumed: true } as const
    return followMessage(this.#talk.resume({ signal: this.#place.lasting }), options)
  }

  #open(id: string): Conversation {
    const { store } = this.#place
    const { options, isByPath } = this.#way
    return conversation(this.#agent, { ...options, id, store: isByPath ? store.path : store })
  }
}

// Words around it, as people use them: a memory of marks alone would never be too long.
function messageOf(directive: Directive): string {
  return `Hello again, and thank you for the last one. Now this, please: ${markOf(directive)}`
}

function judge(
  directive: Directive,
  isSteered: boolean,
  result: TurnResult,
  read: string | null,
): string | null {
  const wrong = findWrong(expectedResult(directive, isSteered), result)
  if (wrong !== null || read === null || result.status !== 'ended' || result.state !== 'done') return wrong
  // Of a response that was asked for again, both attempts are read.
  return read.endsWith(result.text) ? null : `what was read ends with ${JSON.stringify(read.slice(-300))}`
}
