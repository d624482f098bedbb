import { useEffect, useRef, useState } from 'preact/hooks'

import { playOn, type PlayPosition, type PlaySpeed } from './play-on.ts'
import type { RunModel } from './run-model.ts'

/** What plays a run. */
export interface Player {
  readonly isPlaying: boolean
  readonly speed: PlaySpeed
  readonly setSpeed: (speed: PlaySpeed) => void
  readonly play: () => void
  readonly pause: () => void
}

/** Moves the cursor through the run by its recorded time, once for each drawing; stops at the last frame. */
export function usePlayer(run: RunModel, at: number, moveTo: (seq: number) => void): Player {
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<PlaySpeed>(1)
  // The loop below outlives many drawings: it reads what is current from here.
  const current = useRef({ run, at, moveTo })
  current.current = { run, at, moveTo }
  useEffect(() => {
    if (!isPlaying) return undefined
    let position: PlayPosition = { seq: current.current.at, restMs: 0 }
    let thenMs = performance.now()
    let request = requestAnimationFrame(function tick(nowMs) {
      const { run: now, moveTo: move } = current.current
      const next = playOn(now.frames, position, Math.max(0, nowMs - thenMs), speed)
      thenMs = Math.max(thenMs, nowMs)
      if (next.seq !== position.seq) move(next.seq)
      position = next
      if (next.seq >= now.frames.length - 1) setPlaying(false)
      else request = requestAnimationFrame(tick)
    })
    return () => cancelAnimationFrame(request)
  }, [isPlaying, speed])
  return { isPlaying, speed, setSpeed, play: () => setPlaying(true), pause: () => setPlaying(false) }
}
