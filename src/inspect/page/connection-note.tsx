import type { JSX } from 'preact'

import type { Connection } from './run-feed.ts'

/** What the sign of the connection is given. */
export interface ConnectionNoteProps {
  readonly connection: Connection
  /** Who drives the run, as the service says it; null while that is not known. */
  readonly status: string | null
  /** The frames read, and how many there are to read; null while that is not known. */
  readonly read: number
  readonly expected: number | null
  readonly nowMs: number
  readonly onRetry: () => void
}

/** How the page stands with the service, in a few words, and what can be done about it. */
export function ConnectionNote(props: ConnectionNoteProps): JSX.Element {
  const { connection, onRetry } = props
  const isIdle = connection.kind === 'live' && idleWords(props.status) !== undefined
  return (
    <span class={`connection is-${isIdle ? 'idle' : connection.kind}`} role="status">
      <span class="connection-dot" aria-hidden="true" />
      <span class="connection-text" title={'message' in connection ? connection.message : undefined}>
        {wordsOf(props)}
      </span>
      {connection.kind === 'reconnecting' && (
        <button type="button" class="small-button" onClick={onRetry}>
          Try now
        </button>
      )}
    </span>
  )
}

const CAUSES = {
  lost: 'Connection lost',
  too_slow: 'This page was too slow',
  closing: 'The service is stopping',
} as const

const REFUSALS = {
  token: 'Token refused',
  forbidden: 'Not allowed with this token',
  unknown_run: 'No such run',
  other: 'Refused',
} as const

const IDLE: Readonly<Record<string, string>> = { suspended: 'Suspended', stored: 'Driven by nobody' }

/** What is said of a run whose log does not grow at the moment, although the connection is there. */
function idleWords(status: string | null): string | undefined {
  return IDLE[status ?? '']
}

function wordsOf({ connection, status, read, expected, nowMs }: ConnectionNoteProps): string {
  switch (connection.kind) {
    case 'connecting':
      return 'Connecting…'
    case 'live':
      if (expected === null) return 'Reading…'
      if (read < expected) return `Reading ${Math.floor((read / expected) * 100)}%`
      return idleWords(status) ?? 'Live'
    case 'ended':
      return 'Ended'
    case 'reconnecting': {
      const seconds = Math.max(0, Math.ceil((connection.retryAtMs - nowMs) / 1000))
      return `${CAUSES[connection.cause]}, ${seconds === 0 ? 'trying again' : `next try in ${seconds} s`}`
    }
    case 'refused':
      return REFUSALS[connection.cause]
  }
}
