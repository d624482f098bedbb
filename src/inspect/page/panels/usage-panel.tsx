import type { JSX } from 'preact'

import type { TokenUsage } from '../../../../machines/loop.types.ts'
import { countUpTo } from '../binary-search.ts'
import { countText, durationText, timeOf } from '../derive/figures.ts'
import { deriveIndex } from '../derive/run-index.ts'
import { countSeen, lastSeen } from '../derive/seen-records.ts'
import { usageAt, type UsagePoint } from '../derive/usage-series.ts'
import type { PanelProps } from '../run-model.ts'
import { LimitBar } from './limit-bar.tsx'
import { Nothing, SeqLink } from './marks.tsx'

const ROWS_MAX = 30
const COST_DIGITS = 4

/** What was used up by the cursor, beside what is allowed. */
export function UsagePanel({ run, at, ts, goTo }: PanelProps): JSX.Element {
  const { usage, turns, calls } = deriveIndex(run.frames)
  const { total, cost } = usageAt(usage, at)
  const { limits } = usage
  const counts = run.history.stepAt(at)?.snapshot.context.counts
  const toolCalls = counts?.toolCalls ?? countUpTo(calls.counted, at)
  const spentMs = Math.max(0, ts - timeOf(run.frames[0]))
  const seen = countSeen(usage.points, at)
  return (
    <div class="panel panel-scroll" tabIndex={0} role="region" aria-label="Usage">
      <div class="bars">
        <LimitBar
          name="Turns"
          used={lastSeen(turns, at)?.turn ?? 0}
          allowed={limits.turns}
          format={countText}
        />
        <LimitBar name="Tool calls" used={toolCalls} allowed={limits.toolCalls} format={countText} />
        <LimitBar name="Tokens" used={total.total_tokens} allowed={limits.tokens} format={countText} />
        {(cost !== null || limits.cost !== null) && (
          <LimitBar
            name="Cost"
            used={cost ?? 0}
            allowed={limits.cost}
            format={(one) => one.toFixed(COST_DIGITS)}
          />
        )}
        <LimitBar name="Wall time" used={spentMs} allowed={limits.wallTimeMs} format={durationText} />
      </div>
      <TokenParts usage={total} />
      {seen === 0 ? (
        <Nothing text="Nothing has said how many tokens it used." />
      ) : (
        <PointTable points={usage.points.slice(Math.max(0, seen - ROWS_MAX), seen)} goTo={goTo} />
      )}
      {seen > ROWS_MAX && (
        <p class="dim">
          The latest {ROWS_MAX} of {countText(seen)}.
        </p>
      )}
    </div>
  )
}

function TokenParts({ usage }: { readonly usage: TokenUsage }): JSX.Element | null {
  const { prompt_tokens: prompt, completion_tokens: completion, cached, reasoning } = usage
  const all = prompt + completion
  if (all === 0) return null
  const parts = [
    { name: 'cached input', count: Math.min(cached, prompt), tone: 'cached' },
    { name: 'input', count: Math.max(0, prompt - cached), tone: 'input' },
    { name: 'reasoning', count: Math.min(reasoning, completion), tone: 'reasoning' },
    { name: 'output', count: Math.max(0, completion - reasoning), tone: 'output' },
  ].filter(({ count }) => count > 0)
  return (
    <figure class="parts">
      <div class="parts-bar" aria-hidden="true">
        {parts.map(({ name, count, tone }) => (
          <span key={name} class={`parts-${tone}`} style={{ flexGrow: count }} />
        ))}
      </div>
      <figcaption>
        {parts.map(({ name, count, tone }) => (
          <span key={name} class="parts-name">
            <span class={`parts-dot parts-${tone}`} aria-hidden="true" /> {name} <b>{countText(count)}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

function PointTable({
  points,
  goTo,
}: {
  readonly points: readonly UsagePoint[]
  readonly goTo: (seq: number) => void
}): JSX.Element {
  return (
    <table class="figures-table">
      <thead>
        <tr>
          <th scope="col">frame</th>
          <th scope="col">turn</th>
          <th scope="col">by</th>
          <th scope="col">input</th>
          <th scope="col">cached</th>
          <th scope="col">output</th>
          <th scope="col">reasoning</th>
          <th scope="col">in all</th>
        </tr>
      </thead>
      <tbody>
        {points.map(({ seq, turn, source, added, total }, index) => (
          <tr key={`${seq} ${index}`}>
            <td>
              <SeqLink seq={seq} goTo={goTo} />
            </td>
            <td>{turn}</td>
            <td class="word">{source}</td>
            <td>{countText(added.prompt_tokens)}</td>
            <td>{countText(added.cached)}</td>
            <td>{countText(added.completion_tokens)}</td>
            <td>{countText(added.reasoning)}</td>
            <td>{countText(total.total_tokens)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
