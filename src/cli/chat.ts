import type { Conversation, ConversationTurn } from '../conversation/conversation-api.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { RunStore } from '../journal/run-store.ts'
import { tellChanges } from './conclude-kept.ts'
import type { Config } from './config-file.ts'
import { describeCost, describeTokens, usageSince } from './describe-usage.ts'
import { followConversation } from './follow-conversation.ts'
import { countOf } from './run-figures.ts'
import { showTurn, type ShownTurn, type ShowTurnOptions } from './show-turn.ts'
import type { EquippedAgent } from './with-agent.ts'

export interface ChatOptions extends Pick<ShowTurnOptions, 'equipped' | 'store' | 'resumeHint'> {
  readonly talk: Conversation
  readonly budget: Config['budget']
  /** How to come back to a conversation. */
  readonly chatHint: (id: string) => string
  /** Whether what is said besides the answers is wanted. */
  readonly isShown: boolean
}

/** A conversation with a person or a pipe at the other end. */
export class Chat {
  readonly equipped: EquippedAgent
  readonly store: RunStore
  readonly budget: Config['budget']
  readonly #options: ChatOptions
  #talk: Conversation
  #openRun: string | null

  constructor(options: ChatOptions) {
    this.equipped = options.equipped
    this.store = options.store
    this.budget = options.budget
    this.#options = options
    this.#talk = options.talk
    this.#openRun = options.talk.openRun
  }

  get talk(): Conversation {
    return this.#talk
  }

  /** The run that must be gone on with or left before the next message; null: there is none. */
  get openRun(): string | null {
    return this.#openRun
  }

  /** Goes on in another conversation. */
  async moveTo(talk: Conversation): Promise<void> {
    const left = this.#talk
    this.#talk = talk
    this.#openRun = talk.openRun
    if (this.#options.isShown) followConversation(talk, 0, this.equipped.note)
    await left.close()
  }

  /** Sends a message and shows what comes of it. */
  send(message: string): Promise<ShownTurn> {
    return this.#show(() => this.#talk.send(message))
  }

  /** Goes on with the open run. Rejects with `resume_refused` when it cannot. */
  resume(): Promise<ShownTurn> {
    return this.#show(() => this.#talk.resume(), this.#pastOf(this.#openRun))
  }

  /** Leaves the open run for good. */
  async abandon(): Promise<void> {
    await this.#talk.abandon()
    this.#openRun = null
  }

  /** What the log of the open run has; nothing when the process ended before it could begin. */
  #pastOf(runId: string | null): readonly Frame[] {
    const isThere = this.store.list().some(({ runId: id }) => id === runId)
    return runId === null || !isThere ? [] : [...this.store.read(runId)]
  }

  close(): Promise<void> {
    return this.#talk.close()
  }

  async #show(begin: () => ConversationTurn, past: readonly Frame[] = []): Promise<ShownTurn> {
    const { equipped, store, budget } = this
    const { resumeHint, chatHint, isShown } = this.#options
    const before = this.#talk.usage
    const shown = await showTurn(begin(), {
      equipped,
      store,
      resumeHint,
      chatHint: chatHint(this.#talk.id),
      isBudget: budget?.tokens !== undefined,
      detail: 'answer',
      past,
      // Only now is it known that nothing of it keeps the run from going on.
      onRun: () => tellChanges(past, this.#talk.agent, equipped.say),
    })
    if (!shown.isRefused) this.#openRun = shown.openRun
    const { usage } = this.#talk
    if (isShown && usage.total_tokens > before.total_tokens) this.#tellUsage(before, usage)
    return shown
  }

  #tellUsage(before: Conversation['usage'], after: Conversation['usage']): void {
    const cost = after.cost === null ? '' : `, ${describeCost(after.cost - (before.cost ?? 0))}`
    const all = after.cost === null ? '' : `, ${describeCost(after.cost)}`
    const turn = `${describeTokens(usageSince(before, after))}${cost}`
    const isFirst = before.total_tokens === 0
    this.equipped.note(isFirst ? turn : `${turn}; in all ${countOf(after.total_tokens, 'token')}${all}`)
  }
}
