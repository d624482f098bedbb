import type { RefObject } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

import type { ChartBox } from '../../chart/chart-layout.ts'
import { chartLayout } from '../../chart/generated/chart-layout.ts'
import {
  between,
  viewBoxText,
  viewOfState,
  wholeView,
  zoomed,
  type CameraMode,
  type Viewport,
} from './chart-camera.ts'

/** What looks at the chart. */
export interface Camera {
  readonly view: ChartBox
  readonly zoom: (factor: number, about?: { readonly x: number; readonly y: number }) => void
  /** Moves the chart by pixels of the page. */
  readonly drag: (byX: number, byY: number) => void
}

const MOVE_MS = 280

/**
 * Where the chart is looked at from. It goes smoothly to where it should be, unless the reader wants no motion; on the
 * way only the attribute of the SVG changes.
 */
export function useCamera(
  svg: RefObject<SVGSVGElement | null>,
  viewport: Viewport,
  state: ChartBox | null,
  mode: CameraMode,
  onMove: () => void,
): Camera {
  const [freeView, setFreeView] = useState<ChartBox | null>(null)
  const shown = useRef<ChartBox | null>(null)
  const view = targetOf(mode, freeView, state, viewport)
  const target = viewBoxText(view)
  useEffect(() => {
    const from = shown.current
    const isStill = from === null || mode === 'free' || matchMedia('(prefers-reduced-motion: reduce)').matches
    const show = (next: ChartBox): void => {
      shown.current = next
      svg.current?.setAttribute('viewBox', viewBoxText(next))
    }
    if (isStill || viewport.width === 0) {
      show(view)
      return undefined
    }
    const beganMs = performance.now()
    let request = requestAnimationFrame(function move(nowMs) {
      const share = Math.min(1, Math.max(0, (nowMs - beganMs) / MOVE_MS))
      show(between(from, view, 1 - (1 - share) ** 3))
      if (share < 1) request = requestAnimationFrame(move)
    })
    return () => cancelAnimationFrame(request)
    // The text of the view stands for the view.
  }, [target, mode, svg])
  const change = useCallback(
    (next: ChartBox) => {
      setFreeView(next)
      onMove()
    },
    [onMove],
  )
  return {
    view,
    zoom: (factor, about) => change(zoomed(shown.current ?? view, factor, viewport, chartLayout, about)),
    drag: (byX, byY) => {
      const now = shown.current ?? view
      const scale = viewport.width / now.width
      change({ ...now, x: now.x - byX / scale, y: now.y - byY / scale })
    },
  }
}

function targetOf(
  mode: CameraMode,
  free: ChartBox | null,
  state: ChartBox | null,
  viewport: Viewport,
): ChartBox {
  if (mode === 'free' && free !== null) return free
  return mode === 'whole' || state === null
    ? wholeView(chartLayout, viewport)
    : viewOfState(chartLayout, state, viewport)
}
