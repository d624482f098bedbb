import { moveTarget } from './move-target.ts'
import { PLAY_SPEEDS } from './play-on.ts'
import type { Route } from './route.ts'
import type { RunSession } from './run-session.ts'
import type { ShortcutAction } from './shortcut.ts'
import { usePlayer, type Player } from './use-player.ts'

/** Where somebody looks at a run, and what moves that. */
export interface RunCursor {
  /** Seq of the last frame that counts; -1 while there is none. */
  readonly at: number
  /** The newest frame counts, whatever comes. */
  readonly isFollowing: boolean
  readonly player: Player
  readonly goTo: (seq: number) => void
  /** Does what an action asks of the cursor; an action that is about something else does nothing. */
  readonly act: (action: ShortcutAction) => void
}

/** The cursor of a run: its place is in the address. */
export function useRunCursor(
  session: RunSession,
  route: Extract<Route, { view: 'run' }>,
  onRoute: (route: Route) => void,
): RunCursor {
  const run = session.model
  const last = run.frames.length - 1
  const at = Math.min(route.at ?? last, last)
  const moveTo = (seq: number): void => onRoute({ ...route, at: Math.max(0, Math.min(seq, last)) })
  const player = usePlayer(run, at, moveTo)
  const goTo = (seq: number): void => {
    player.pause()
    moveTo(seq)
  }
  const act = (action: ShortcutAction): void => {
    const target = moveTarget(action, at, last, session.marks)
    if (target !== null) goTo(target)
    else if (action === 'follow') {
      player.pause()
      onRoute({ ...route, at: null })
    } else if (action === 'play' && player.isPlaying) player.pause()
    else if (action === 'play') {
      // At the end there is nothing left to play but the whole run.
      moveTo(at >= last ? 0 : at)
      player.play()
    } else if (action === 'faster') changeSpeed(player, 1)
    else if (action === 'slower') changeSpeed(player, -1)
  }
  return { at, isFollowing: route.at === null, player, goTo, act }
}

function changeSpeed({ speed, setSpeed }: Player, by: 1 | -1): void {
  const next = PLAY_SPEEDS[PLAY_SPEEDS.indexOf(speed) + by]
  if (next !== undefined) setSpeed(next)
}
