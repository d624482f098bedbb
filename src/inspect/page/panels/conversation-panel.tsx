import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

import type { Block } from '../derive/blocks.ts'
import { countText } from '../derive/figures.ts'
import { deriveIndex } from '../derive/run-index.ts'
import { countSeen } from '../derive/seen-records.ts'
import type { PanelProps } from '../run-model.ts'
import { BlockView } from './block-view.tsx'
import { Nothing } from './marks.tsx'

// As much as a person sees of it at once, so that a move of the cursor draws little.
const FIRST_BLOCKS = 40

// How near to the end somebody has to be to be taken along with it.
const NEAR_PX = 48

/** What was said and done, turn by turn, as it stood at the cursor. */
export function ConversationPanel({ run, at, goTo }: PanelProps): JSX.Element {
  const { blocks } = deriveIndex(run.frames)
  const [most, setMost] = useState(FIRST_BLOCKS)
  const seen = countSeen(blocks.all, at)
  const from = Math.max(0, seen - most)
  const shown = blocks.all.slice(from, seen)
  const root = useKeptAtEnd(at, run.version)
  return (
    <div
      class="panel panel-scroll conversation"
      ref={root}
      tabIndex={0}
      role="region"
      aria-label="Conversation"
    >
      {seen === 0 && <Nothing text="Nothing has been said yet." />}
      {from > 0 && (
        <button type="button" class="link more" onClick={() => setMost(most + FIRST_BLOCKS)}>
          ↑ {countText(from)} earlier
        </button>
      )}
      {turnsOf(shown).map(({ turn, blocks }) => (
        <section key={`${turn} ${blocks[0]?.seq ?? 0}`} class="turn">
          {turn > 0 && <h3 class="turn-title">Turn {turn}</h3>}
          {blocks.map((block, index) => (
            <BlockView key={`${block.seq} ${block.kind} ${index}`} block={block} at={at} goTo={goTo} />
          ))}
        </section>
      ))}
    </div>
  )
}

interface Turn {
  readonly turn: number
  readonly blocks: Block[]
}

function turnsOf(blocks: readonly Block[]): readonly Turn[] {
  const turns: Turn[] = []
  for (const block of blocks) {
    const last = turns.at(-1)
    if (last?.turn === block.turn) last.blocks.push(block)
    else turns.push({ turn: block.turn, blocks: [block] })
  }
  return turns
}

/** Whoever reads at the end stays there as more comes; whoever has scrolled up stays where they are. */
function useKeptAtEnd(at: number, version: number): { current: HTMLDivElement | null } {
  const root = useRef<HTMLDivElement | null>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    const element = root.current
    if (element === null) return undefined
    const onScroll = (): void => {
      isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - NEAR_PX
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [])
  useLayoutEffect(() => {
    if (isAtEnd.current && root.current !== null) root.current.scrollTop = root.current.scrollHeight
  }, [at, version])
  return root
}
