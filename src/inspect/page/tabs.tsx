import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** One choice of a row of tabs. */
export interface Tab {
  readonly id: string
  readonly text: string
  /** A sign that something in it waits for somebody. */
  readonly hasAlert?: boolean
}

/** What a row of tabs is given. */
export interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly chosen: string
  /** Id of the element that shows what is chosen. */
  readonly controls: string
  readonly onChoose: (id: string) => void
}

/** A row of tabs: one stop of the tab key, arrows go from one to the next. */
export function Tabs({ label, tabs, chosen, controls, onChoose }: TabsProps): JSX.Element {
  const row = useRef<HTMLDivElement>(null)
  // Whatever chose it: where there is little room, the row is wider than what is seen of it.
  useLayoutEffect(() => showTab(row.current, chosen), [chosen, tabs.length])
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = tabAfterKey(event.key, tabs, chosen)
    if (next === null) return
    event.preventDefault()
    event.stopPropagation()
    onChoose(next)
    const button = row.current?.querySelector(`#tab-${next}`)
    if (button instanceof HTMLElement) button.focus()
  }
  return (
    <div class="tabs" ref={row} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(({ id, text, hasAlert }) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          role="tab"
          class="tab"
          aria-selected={id === chosen}
          aria-controls={controls}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {text}
          {hasAlert && <span class="tab-alert">{'!'}</span>}
        </button>
      ))}
    </div>
  )
}

const NEIGHBOUR_PIXELS = 24

/** Scrolls a row so that a tab and the beginning of the next one are seen. */
function showTab(row: HTMLElement | null, id: string): void {
  const tab = row?.querySelector(`#tab-${id}`)
  if (row == null || tab == null) return
  // Not by scrollIntoView: Chromium would have the tab key go on from there.
  const [seen, own] = [row.getBoundingClientRect(), tab.getBoundingClientRect()]
  const before = seen.left + NEIGHBOUR_PIXELS - own.left
  const behind = own.right - (seen.right - NEIGHBOUR_PIXELS)
  if (before > 0) row.scrollLeft -= before
  else if (behind > 0) row.scrollLeft += behind
}

function tabAfterKey(key: string, tabs: readonly Tab[], chosen: string): string | null {
  const at = tabs.findIndex(({ id }) => id === chosen)
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : null
  if (key === 'Home') return tabs[0]?.id ?? null
  if (key === 'End') return tabs.at(-1)?.id ?? null
  return step === null ? null : (tabs[(at + step + tabs.length) % tabs.length]?.id ?? null)
}
