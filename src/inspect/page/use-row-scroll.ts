import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

import { scrollToShow } from './row-window.ts'

/** How far a long list is scrolled. */
export interface RowScroll {
  readonly topPixels: number
  readonly heightPixels: number
  readonly onScroll: () => void
}

/** Follows the scrolling of a list, and scrolls it whenever another row is selected. */
export function useRowScroll(
  box: RefObject<HTMLElement | null>,
  rowHeight: number,
  selected: number,
): RowScroll {
  const [, redraw] = useReducer((scrolls: number) => scrolls + 1, 0)
  const [heightPixels, setHeightPixels] = useState(0)
  const top = useRef({ pixels: 0, selected: -1, heightPixels: 0 })
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setHeightPixels(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  // The rows to be seen are drawn at once, not once the browser has scrolled there.
  if (selected >= 0 && (top.current.selected !== selected || top.current.heightPixels !== heightPixels)) {
    const pixels =
      heightPixels === 0 ? 0 : scrollToShow(selected, rowHeight, top.current.pixels, heightPixels)
    top.current = { pixels, selected, heightPixels }
  }
  const { pixels: topPixels } = top.current
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = topPixels
  }, [topPixels])
  const onScroll = (): void => {
    const pixels = box.current?.scrollTop ?? 0
    // What the list has done itself is drawn already.
    if (Math.abs(pixels - top.current.pixels) < 1) return
    top.current = { ...top.current, pixels }
    redraw(undefined)
  }
  return { topPixels, heightPixels, onScroll }
}
