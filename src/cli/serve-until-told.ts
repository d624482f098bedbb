import { listen, type Listenable } from '../server/listen.ts'
import { ExitCode } from './exit-code.ts'
import { listenToSignals } from './listen-to-signals.ts'
import type { Say } from './say-to.ts'
import type { Place } from './serve-place.ts'

export interface ServingOptions {
  readonly place: Pick<Place, 'host' | 'port'>
  /** Tells the user where; called once, when it is sure that nobody else has the port. */
  readonly announce: (url: string) => void
  /** What to do once it listens. */
  readonly onListening?: () => Promise<void>
  /** Called when the first signal has come. */
  readonly onTold?: () => void
  readonly say: Say
}

/**
 * Serves until a signal comes: the first ends it in good order, the second at once. Resolves with the exit code; rejects
 * when it cannot listen.
 */
export async function serveUntilTold(
  service: Listenable,
  { place, announce, onListening, onTold, say }: ServingOptions,
): Promise<number> {
  const { promise: told, resolve: tell } = Promise.withResolvers<void>()
  const { url, close } = await listen(service, place)
  const release = listenToSignals({ cancel: tell, leave: tell })
  try {
    announce(url)
    const begun = onListening?.().catch((error: unknown) => {
      say(`not everything could be taken up: ${error instanceof Error ? error.message : String(error)}`)
    })
    await told
    onTold?.()
    await close()
    await begun
    return ExitCode.ok
  } finally {
    release()
  }
}

/** The address of the page. What is behind the # stays in the browser: no server and no log gets it. */
export function pageAddress(url: string, token: string | null, run: string | null = null): string {
  const parts = [
    ...(token === null ? [] : [`token=${encodeURIComponent(token)}`]),
    ...(run === null ? [] : [`run=${encodeURIComponent(run)}`]),
  ]
  return `${url}/inspect${parts.length === 0 ? '' : `#${parts.join('&')}`}`
}
