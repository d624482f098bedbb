import { createHmac, hash, timingSafeEqual } from 'node:crypto'

import { LoopchartError } from '../errors.ts'

/** What a token lets its holder do. Each includes those before it. */
export const SCOPES = ['read', 'run', 'approve'] as const

export type Scope = (typeof SCOPES)[number]

/** One who may speak to the service. */
export interface ServiceToken {
  /** At least 24 characters, so that nobody guesses it. */
  readonly token: string
  /** `read`: GET only. `run`: start, cancel and steer too. `approve`: approve, deny and reconcile too. */
  readonly scopes: readonly Scope[]
  /** The only runs that it is for; all when left out. One that is bound to runs starts none. */
  readonly runs?: readonly string[]
}

/** What somebody who was let in may do. */
export interface Access {
  /** Names the token without giving it away. */
  readonly id: string
  readonly scopes: readonly Scope[]
  /** Null: all. */
  readonly runs: ReadonlySet<string> | null
}

const LENGTH_MIN = 24
const BEARER = /^bearer +([!-~]+)$/iu

/** The tokens of a service. They are kept as hashes for looking up, so that how long that takes says nothing of them. */
export class Tokens {
  readonly #known: readonly { readonly token: string; readonly digest: Buffer; readonly access: Access }[]

  constructor(tokens: readonly ServiceToken[]) {
    if (tokens.length === 0) throw new LoopchartError('usage', 'a service needs a token')
    this.#known = tokens.map(({ token, scopes, runs }) => {
      if (typeof token !== 'string' || token.length < LENGTH_MIN || !/^[!-~]+$/u.test(token)) {
        throw new LoopchartError(
          'usage',
          `a token must have at least ${LENGTH_MIN} printable characters without spaces`,
        )
      }
      const digest = digestOf(token)
      const id = digest.toString('base64url')
      return { token, digest, access: { id, scopes: withLower(scopes), runs: runs ? new Set(runs) : null } }
    })
    if (new Set(this.#known.map(({ access }) => access.id)).size < tokens.length) {
      throw new LoopchartError('usage', 'a token is given twice')
    }
  }

  /** Who sends this `Authorization` header; null: nobody who is known. Every token is compared, in constant time. */
  accessOf(authorization: string | null): Access | null {
    const [, said = ''] = BEARER.exec(authorization ?? '') ?? []
    const digest = digestOf(said)
    let found: Access | null = null
    for (const known of this.#known) if (timingSafeEqual(known.digest, digest)) found = known.access
    return found
  }

  /** Shows whoever knows a token that it is known here too, without saying it. */
  proofsOf(nonce: string): readonly string[] {
    return this.#known.map(({ token }) => createHmac('sha256', token).update(nonce).digest('hex'))
  }

  /** What must not be shown to anybody. */
  get secrets(): readonly string[] {
    return this.#known.map(({ token }) => token)
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function withLower(scopes: readonly Scope[]): readonly Scope[] {
  if (!Array.isArray(scopes) || scopes.length === 0 || !scopes.every((scope) => SCOPES.includes(scope))) {
    throw new LoopchartError('usage', `the scopes of a token must be some of ${SCOPES.join(', ')}`)
  }
  const highest = Math.max(...scopes.map((scope) => SCOPES.indexOf(scope)))
  return SCOPES.slice(0, highest + 1)
}
