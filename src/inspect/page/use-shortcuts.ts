import { useEffect, useRef } from 'preact/hooks'

import { shortcutOf, type ShortcutAction } from './shortcut.ts'

// What types, and what has a use of its own for arrows, space and page keys. Tabs and lists take theirs before they get here.
const TAKERS = 'input, textarea, select, [contenteditable], dialog'
const PRESSED_BY_SPACE = 'button, a, summary'

/** Calls back for keys pressed anywhere on the page, unless they are turned off. */
export function useShortcuts(areOn: boolean, onAction: (action: ShortcutAction) => void): void {
  const callback = useRef(onAction)
  callback.current = onAction
  useEffect(() => {
    if (!areOn) return undefined
    const onKeyDown = (event: KeyboardEvent): void => {
      const { target, key } = event
      const isTaken =
        target instanceof Element &&
        (target.closest(TAKERS) !== null || (key === ' ' && target.closest(PRESSED_BY_SPACE) !== null))
      const hasModifier = event.altKey || event.ctrlKey || event.metaKey
      const action = shortcutOf({ key, hasModifier, isTaken })
      if (action === null || event.defaultPrevented) return
      event.preventDefault()
      callback.current(action)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [areOn])
}
