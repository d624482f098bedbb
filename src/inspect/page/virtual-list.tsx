import type { JSX } from 'preact'
import { useId, useRef } from 'preact/hooks'

import { indexAfterKey, rowsInView } from './row-window.ts'
import { useRowScroll } from './use-row-scroll.ts'

/** What a long list is given. */
export interface VirtualListProps {
  readonly count: number
  /** Pixels; every row is this high. */
  readonly rowHeight: number
  /** The content of a row: it is put into an element that has the role, the place and the height. */
  readonly renderRow: (index: number) => JSX.Element
  /** What a screen reader calls the list. */
  readonly label: string
  /** Index of the row that is kept in view; left out or -1: none. */
  readonly selected?: number
  /** Left out: rows cannot be chosen. */
  readonly onSelect?: (index: number) => void
}

/** A list of which only the rows in view exist; fills its container, which must have a height. */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { count, rowHeight, renderRow, label, selected = -1, onSelect } = props
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const { topPixels, heightPixels, onScroll } = useRowScroll(box, rowHeight, selected)
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = indexAfterKey(event.key, selected, count, Math.floor(heightPixels / rowHeight))
    if (onSelect === undefined || next === null) return
    event.preventDefault()
    // The keys of the page would move it a second time.
    event.stopPropagation()
    onSelect(next)
  }
  const { first, end } = rowsInView(topPixels, heightPixels, rowHeight, count)
  const drawn = Math.max(1, end - first)
  const isChoosable = onSelect !== undefined
  return (
    <div
      class="rows"
      ref={box}
      role={isChoosable ? 'listbox' : 'list'}
      aria-label={label}
      aria-activedescendant={
        isChoosable && selected >= first && selected < end ? `${id}-${selected}` : undefined
      }
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div class="rows-all" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {Array.from({ length: end - first }, (_, offset) => {
          const index = first + offset
          return (
            <div
              // By place, not by row: a list that jumps writes into the elements that it has.
              key={index % drawn}
              id={`${id}-${index}`}
              class={index === selected ? 'row is-selected' : 'row'}
              role={isChoosable ? 'option' : 'listitem'}
              aria-selected={isChoosable ? index === selected : undefined}
              aria-posinset={index + 1}
              aria-setsize={count}
              style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={onSelect && (() => onSelect(index))}
            >
              {renderRow(index)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
