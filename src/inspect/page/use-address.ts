import { useEffect, useRef, useState } from 'preact/hooks'

import { formatRoute, parseOpening, type Route } from './route.ts'

// Browsers refuse an address that changes with every drawing.
const WRITE_PAUSE_MS = 250

/**
 * What the page shows, kept in the address: moving within a run replaces it, going elsewhere adds to the history. A
 * token in an address that somebody opens in the same tab is taken out of it and given to `onToken`.
 */
export function useAddress(
  opening: Route,
  onToken: (token: string) => void,
): readonly [Route, (route: Route) => void] {
  const [route, setRoute] = useState(opening)
  const known = useRef('')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    history.replaceState(null, '', formatRoute(opening))
    known.current = location.hash
    const onHashChange = (): void => {
      clearTimeout(timer.current)
      const { token, route: next } = parseOpening(location.hash)
      if (token !== null) {
        history.replaceState(null, '', formatRoute(next))
        onToken(token)
      }
      known.current = location.hash
      setRoute(next)
    }
    addEventListener('hashchange', onHashChange)
    return () => removeEventListener('hashchange', onHashChange)
  }, [])
  const write = (next: Route): void => {
    setRoute(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      // Somebody has just gone elsewhere, and the page is about to hear of it.
      if (location.hash !== known.current) return
      history.replaceState(null, '', formatRoute(next))
      known.current = location.hash
    }, WRITE_PAUSE_MS)
  }
  return [route, write]
}
