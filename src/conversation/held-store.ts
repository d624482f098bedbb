import { openStore } from '../journal/open-store.ts'
import type { RunStore } from '../journal/run-store.ts'

/** A store for as long as any conversation needs it: one that was given by its path is closed with the last of them. */
export class HeldStore {
  readonly store: RunStore | null
  readonly #isOwned: boolean
  #holders = 1

  constructor(given: RunStore | string | undefined) {
    this.#isOwned = typeof given === 'string'
    this.store = typeof given === 'string' ? openStore(given) : (given ?? null)
  }

  hold(): this {
    this.#holders += 1
    return this
  }

  release(): void {
    this.#holders -= 1
    if (this.#holders === 0 && this.#isOwned) this.store?.close()
  }
}
