import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'

import type { Access } from './answers.ts'
import type { Api } from './api.ts'
import type { CameraMode } from './chart-camera.ts'
import { personNeeded, type PersonNeed } from './derive/person-needed.ts'
import { deriveIndex } from './derive/run-index.ts'
import { HelpDialog } from './help-dialog.tsx'
import { RefusalNote } from './refusal-note.tsx'
import { formatRoute, type Route } from './route.ts'
import { RunBody } from './run-body.tsx'
import { NO_FILTER } from './run-filter.ts'
import { RunHeader } from './run-header.tsx'
import type { RunSession } from './run-session.ts'
import { Scrubber } from './scrubber.tsx'
import type { ShortcutAction } from './shortcut.ts'
import { stateName } from './state-name.ts'
import { Transport } from './transport.tsx'
import { useNow } from './use-now.ts'
import { useRunCursor, type RunCursor } from './use-run-cursor.ts'
import { useSession } from './use-session.ts'
import { useShortcuts } from './use-shortcuts.ts'

/** What the page of a run is given. */
export interface RunViewProps {
  readonly route: Extract<Route, { view: 'run' }>
  readonly onRoute: (route: Route) => void
  readonly api: Api
  readonly access: Access
  readonly onToken: (token: string) => void
}

/** One run: chart, timeline and panels around one cursor. */
export function RunView({ route, onRoute, api, access, onToken }: RunViewProps): JSX.Element {
  const session = useSession(api, route.runId)
  const cursor = useRunCursor(session, route, onRoute)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [areKeysOn, setKeysOn] = useState(true)
  const [mode, setMode] = useState<CameraMode | null>(null)
  const { at, goTo, player } = cursor
  const { marks, visits, model: run } = session
  const state = visits.stateAt(at)
  const step = run.history.stepAt(at)
  const turn = step?.snapshot.context.turn ?? null
  const need = usePersonNeed(session)
  const ts = useTime(session, cursor)
  const choosePanel = (id: string): void => onRoute({ ...route, panel: id })
  const onAction = (action: ShortcutAction): void => {
    if (action === 'help') setHelpOpen(true)
    else if (action === 'wholeChart') setMode(mode === 'follow' ? 'whole' : 'follow')
    else if (action === 'runs') location.hash = formatRoute({ view: 'runs', filter: NO_FILTER })
    else cursor.act(action)
  }
  useShortcuts(areKeysOn && !isHelpOpen, onAction)
  useTitle(session, state)
  return (
    <div class="run-view">
      <RunHeader
        session={session}
        state={state}
        turn={turn}
        need={need}
        mayAnswer={access.scopes.includes('approve') && run.summary?.status !== 'stored'}
        onNeeds={() => choosePanel('actions')}
        onHelp={() => setHelpOpen(true)}
      />
      <RefusalNote connection={session.connection} onToken={onToken} />
      <RunBody
        {...{ session, state, step, run, at, ts, goTo, access, api, mode }}
        needsPerson={need !== 'no'}
        onMode={setMode}
        chosen={route.panel}
        onChoose={choosePanel}
      />
      <footer class="run-footer">
        <Scrubber run={run} marks={marks} visits={visits} at={at} goTo={goTo} />
        <Transport run={run} marks={marks} cursor={cursor} onAction={onAction} />
      </footer>
      <LiveState
        text={player.isPlaying || state === null ? null : `${stateName(state)}, turn ${turn ?? 0}`}
      />
      {isHelpOpen && (
        <HelpDialog areKeysOn={areKeysOn} onKeys={setKeysOn} onClose={() => setHelpOpen(false)} />
      )}
    </div>
  )
}

/** Whether the run, as it is now, waits for somebody. */
function usePersonNeed({ model }: RunSession): PersonNeed {
  const { frames, isEnded, version } = model
  return useMemo(
    () => (isEnded ? 'no' : personNeeded(deriveIndex(frames).calls.all, frames.length - 1)),
    [frames, isEnded, version],
  )
}

/** The time at the cursor. While a live run is followed it goes on, also when the run waits and no frame comes. */
function useTime({ model, time }: RunSession, { at, isFollowing }: RunCursor): number {
  const isGoingOn = isFollowing && model.isLive && !model.isEnded
  const nowMs = useNow(isGoingOn)
  const ts = model.frames[at]?.ts ?? 0
  return isGoingOn && ts > 0 ? time.at(nowMs, ts) : ts
}

/** Tells a screen reader where the run is, but not while it is played. */
function LiveState({ text }: { text: string | null }): JSX.Element {
  return (
    <p class="hidden-visually" aria-live="polite">
      {text}
    </p>
  )
}

function useTitle(session: RunSession, state: string | null): void {
  const { runId, isLive } = session.model
  const title = `${isLive ? '● ' : ''}${state === null ? '' : `${stateName(state)} · `}${runId} · loopchart`
  useEffect(() => {
    document.title = title
  }, [title])
}
