import { useEffect, useMemo, useReducer } from 'preact/hooks'

import { systemClock } from '../../clock.ts'
import type { Api } from './api.ts'
import { RunSession } from './run-session.ts'

// A tab that nobody sees is not drawn, and still has a title to keep up to date.
const HIDDEN_PAUSE_MS = 500
// Long enough for most of a long log to arrive, short enough to be seen as progress.
const READING_PAUSE_MS = 150

/** Reads a run for as long as the component is there. */
export function useSession(api: Api, runId: string): RunSession {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const session = useMemo(() => open(api, runId, () => redraw(undefined)), [api, runId])
  useEffect(() => {
    session.start()
    return () => session.close()
  }, [session])
  return session
}

function open(api: Api, runId: string, onChange: () => void): RunSession {
  return new RunSession({ api, runId, clock: systemClock, random: Math.random, beforeNextDrawing, onChange })
}

function beforeNextDrawing(work: () => void, isReading: boolean): void {
  if (document.hidden) setTimeout(work, HIDDEN_PAUSE_MS)
  else if (isReading) setTimeout(work, READING_PAUSE_MS)
  else requestAnimationFrame(work)
}
