import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

import type { Viewport } from './chart-camera.ts'

/** The size of an element, in pixels, kept up to date; nothing until it is on the page. */
export function useSize(element: RefObject<Element | null>): Viewport {
  const [size, setSize] = useState<Viewport>({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return undefined
    const measure = (): void => {
      const { width, height } = current.getBoundingClientRect()
      setSize((known) => (known.width === width && known.height === height ? known : { width, height }))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [element])
  return size
}
