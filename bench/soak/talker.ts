import { setTimeout as sleep } from 'node:timers/promises'

import { markOf } from './directive.ts'
import { drawDirective } from './draw-directive.ts'
import { needsReader, type Reading } from './follow-message.ts'
import { Life, type LifePlace } from './life.ts'
import type { Random } from './random.ts'
import type { SoakWay } from './soak-agents.ts'

/** What all who talk have in common. */
export interface SoakHall extends LifePlace {
  readonly ways: readonly SoakWay[]
  /** Aborted when nobody is to begin anything further. */
  readonly over: AbortSignal
  readonly pauseMs: number
  /** Takes one of the messages that may be sent; false: there is none left. */
  readonly take: () => boolean
}

// Some messages wait for retries, for silence, for a tool at its deadline; none for this long.
const MESSAGE_MS_MAX = 60_000

const READINGS: readonly Reading[] = ['frames', 'text', 'leave', 'none']

/** Somebody who has one conversation after another, each of some tens of messages. */
export class Talker {
  readonly #number: number
  readonly #hall: SoakHall
  readonly #random: Random
  #lives = 0
  #messages = 0

  constructor(number: number, hall: SoakHall, random: Random) {
    this.#number = number
    this.#hall = hall
    this.#random = random
  }

  /** Resolves when it is over and nothing is open. Never rejects: what goes wrong is in the tally. */
  async talk(): Promise<void> {
    const { over, tally } = this.#hall
    // Not all at once.
    await this.#pause()
    while (!over.aborted) {
      try {
        await this.#live()
      } catch (error) {
        // Whatever state it was in, the next one begins with a conversation of its own.
        if (error instanceof Hang) tally.hang(error.message)
        else tally.wrong(`w${this.#number}: ${describe(error)}`)
        await this.#pause()
      }
    }
  }

  async #live(): Promise<void> {
    const { ways, tally, over, take } = this.#hall
    const way = ways[(this.#number + this.#lives) % ways.length]
    if (way === undefined) throw new Error('there is no way to talk')
    this.#lives += 1
    tally.conversations += 1
    const life = new Life(this.#hall, way, `w${this.#number}c${this.#lives}`)
    try {
      for (let left = this.#random.between(10, 40); left > 0 && !over.aborted; left -= 1) {
        if (this.#random.chance(0.05)) await life.reopen()
        if (this.#random.chance(0.03)) await life.compact()
        if (this.#random.chance(0.01)) await life.fork()
        if (!take()) break
        await this.#say(life)
        await this.#pause()
      }
    } finally {
      await within(life.close(), `${life.id}: closing`)
    }
  }

  async #say(life: Life): Promise<void> {
    const { tally } = this.#hall
    this.#messages += 1
    const directive = drawDirective(this.#random, `w${this.#number}m${this.#messages}`)
    const reading = READINGS[this.#random.between(0, READINGS.length - 1)] ?? 'none'
    const startMs = performance.now()
    tally.underway += 1
    const work = life
      .say(directive, needsReader(directive) ? 'frames' : reading)
      .finally(() => void (tally.underway -= 1))
    const wrong = await within(work, `${life.id} ${markOf(directive)}`)
    if (wrong === null) tally.answer(directive.kind, performance.now() - startMs)
    else tally.wrong(`${life.id} ${markOf(directive)}: ${wrong}`)
  }

  async #pause(): Promise<void> {
    const { pauseMs, over } = this.#hall
    const ms = pauseMs * (0.5 + this.#random.next())
    await sleep(ms, null, { signal: over }).catch(() => undefined)
  }
}

class Hang extends Error {}

async function within<Value>(work: Promise<Value>, what: string): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Hang(`${what} took over ${MESSAGE_MS_MAX} ms`)),
    MESSAGE_MS_MAX,
  )
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
