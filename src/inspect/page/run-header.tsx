import type { JSX } from 'preact'
import { useState } from 'preact/hooks'

import { ConnectionNote } from './connection-note.tsx'
import type { PersonNeed } from './derive/person-needed.ts'
import { Icon } from './icon.tsx'
import { SafeText } from './panels/safe-text.tsx'
import { formatRoute } from './route.ts'
import { NO_FILTER } from './run-filter.ts'
import type { RunSession } from './run-session.ts'
import { StatePill } from './state-pill.tsx'
import { useNow } from './use-now.ts'

/** What the line above a run is given. */
export interface RunHeaderProps {
  readonly session: RunSession
  /** At the cursor; null before the first frame. */
  readonly state: string | null
  readonly turn: number | null
  readonly need: PersonNeed
  /** Whether whoever looks at the page could be the one that it waits for. */
  readonly mayAnswer: boolean
  readonly onNeeds: () => void
  readonly onHelp: () => void
}

/** Which run it is, where it is, and how the page stands with the service. */
export function RunHeader({
  session,
  state,
  turn,
  need,
  mayAnswer,
  onNeeds,
  onHelp,
}: RunHeaderProps): JSX.Element {
  const { runId, frames, summary } = session.model
  const nowMs = useNow(session.connection.kind === 'reconnecting')
  return (
    <header class="run-header">
      <a class="back-link" href={formatRoute({ view: 'runs', filter: NO_FILTER })}>
        <Icon name="back" />
        Runs
      </a>
      <h1 class="run-name" title={runId}>
        <SafeText text={runId} />
      </h1>
      {state !== null && <StatePill state={state} />}
      {turn !== null && <span class="run-fact">turn {turn}</span>}
      {summary !== null && summary.model !== '' && (
        <span class="run-fact is-model">
          <SafeText text={summary.model} />
        </span>
      )}
      {summary?.agent != null && (
        <span class="run-fact is-agent">
          <SafeText text={summary.agent} />
        </span>
      )}
      {need !== 'no' && (
        <button type="button" class="needs-button" onClick={onNeeds}>
          {`${need === 'yes' ? 'Waits' : 'May wait'} for ${mayAnswer ? 'you' : 'somebody'}`}
        </button>
      )}
      <span class="header-end">
        <ConnectionNote
          connection={session.connection}
          status={summary?.status ?? null}
          read={frames.length}
          expected={session.expected}
          nowMs={nowMs}
          onRetry={() => session.retryNow()}
        />
        <CopyLink />
        <button
          type="button"
          class="icon-button help-button"
          title="Keys (?)"
          aria-label="Keys"
          onClick={onHelp}
        >
          ?
        </button>
      </span>
    </header>
  )
}

/** Copies the address: it names run and cursor, and never has the token. */
function CopyLink(): JSX.Element | null {
  const [isCopied, setCopied] = useState(false)
  if (!('clipboard' in navigator)) return null
  return (
    <button
      type="button"
      class="icon-button"
      title="Copy the address of this place, without the token"
      aria-label={isCopied ? 'Address copied' : 'Copy address'}
      onClick={() => {
        void navigator.clipboard.writeText(location.href).then(
          () => setCopied(true),
          () => setCopied(false),
        )
      }}
      onBlur={() => setCopied(false)}
    >
      {isCopied ? '✓' : <Icon name="link" />}
    </button>
  )
}
