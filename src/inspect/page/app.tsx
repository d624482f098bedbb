import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'

import type { Access } from './answers.ts'
import { ApiError, createApi, IMPOSTOR, type Api } from './api.ts'
import { backOffMs } from './back-off.ts'
import type { Opening } from './route.ts'
import { RunList } from './run-list.tsx'
import { RunView } from './run-view.tsx'
import { TokenForm } from './token-form.tsx'
import { useAddress } from './use-address.ts'

/** What the page is started with. */
export interface AppProps {
  readonly opening: Opening
  /** Keeps a token for this tab. */
  readonly keepToken: (token: string) => void
}

const NO_ACCESS: Access = { scopes: [], runs: null, agents: [], version: '' }

/** The page: the list of runs, or one of them. */
export function App({ opening, keepToken }: AppProps): JSX.Element {
  const [token, setToken] = useState(opening.token)
  const onToken = (next: string): void => {
    keepToken(next)
    setToken(next)
  }
  const [route, setRoute] = useAddress(opening.route, onToken)
  const api = useMemo(
    () =>
      token === null
        ? null
        : createApi({
            baseUrl: '',
            token,
            fetch: (...args) => fetch(...args),
            subtle: globalThis.crypto?.subtle,
            // The page itself came from the service a moment ago; who answers by the time of another token is not known.
            isTrusted: token === opening.token,
          }),
    [token],
  )
  const access = useAccess(api)
  if (api === null) return <NoToken onToken={onToken} />
  if (route.view === 'runs') {
    return (
      <RunList
        api={api}
        filter={route.filter}
        mayAnswer={access.scopes.includes('approve')}
        onFilter={(filter) => setRoute({ view: 'runs', filter })}
        onToken={onToken}
      />
    )
  }
  return (
    <RunView key={route.runId} route={route} onRoute={setRoute} api={api} access={access} onToken={onToken} />
  )
}

function NoToken({ onToken }: { onToken: (token: string) => void }): JSX.Element {
  return (
    <main class="gate">
      <h1 class="brand">loopchart</h1>
      <p>
        This page needs a token. Open the address that <code>loopchart serve</code> or{' '}
        <code>loopchart inspect</code> printed, it has one, or paste the token here.
      </p>
      <TokenForm onToken={onToken} />
    </main>
  )
}

/** Whether a failure says nothing about the token: the service is away, or has too much to do. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.code !== IMPOSTOR &&
    (error.status === 0 || error.status === 429 || error.status >= 500)
  )
}

/** What the token may do. Until that is known, and when it cannot be found out, nothing is offered. */
function useAccess(api: Api | null): Access {
  const [access, setAccess] = useState(NO_ACCESS)
  useEffect(() => {
    const closing = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let failures = 0
    const read = (): void => {
      api?.access(closing.signal).then(setAccess, (error: unknown) => {
        if (closing.signal.aborted || !isPassing(error)) return
        failures += 1
        timer = setTimeout(read, backOffMs(failures, Math.random()))
      })
    }
    setAccess(NO_ACCESS)
    read()
    return () => {
      clearTimeout(timer)
      closing.abort()
    }
  }, [api])
  return access
}
