import type { JSX } from 'preact'

import type { Connection } from './run-feed.ts'
import { TokenForm } from './token-form.tsx'

/** What a refusal is shown with. */
export interface RefusalNoteProps {
  readonly connection: Connection
  readonly onToken: (token: string) => void
}

/** Why the service gives nothing more, and what to do; nothing while it does. What was read stays on the page. */
export function RefusalNote({ connection, onToken }: RefusalNoteProps): JSX.Element | null {
  if (connection.kind !== 'refused') return null
  return (
    <div class="banner is-bad" role="alert">
      <p class="banner-text">{adviceOf(connection)}</p>
      {connection.cause === 'token' && <TokenForm onToken={onToken} />}
    </div>
  )
}

function adviceOf({ cause, message }: Extract<Connection, { kind: 'refused' }>): string {
  switch (cause) {
    case 'token':
      return 'What answers does not know this token: the service may have been started again. Open the address that it printed, or paste its token here.'
    case 'forbidden':
      return `This token is not for this run: ${message}. Ask whoever runs the service for one that is.`
    case 'unknown_run':
      return 'The service has no run with this id. Look for it in the list of runs.'
    case 'other':
      return `The service refused: ${message}. Load the page again.`
  }
}
