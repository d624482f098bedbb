import type { JSX } from 'preact'

import type { HistoryStep } from '../run-history.ts'
import type { CameraMode } from './chart-camera.ts'
import { ChartView } from './chart-view.tsx'
import { PANELS } from './panels/panels.tsx'
import type { PanelProps } from './run-model.ts'
import type { RunSession } from './run-session.ts'
import { Tabs, type Tab } from './tabs.tsx'
import { Timeline } from './timeline.tsx'
import { useMedia } from './use-media.ts'

/** What the middle of the page is given: what panels are, and what chart and timeline need besides. */
export interface RunBodyProps extends PanelProps {
  readonly session: RunSession
  readonly state: string | null
  readonly step: HistoryStep | null
  readonly needsPerson: boolean
  readonly mode: CameraMode | null
  readonly onMode: (mode: CameraMode) => void
  /** As the address names it; null for the first. */
  readonly chosen: string | null
  readonly onChoose: (id: string) => void
}

const NARROW = '(max-width: 759px)'
const PLACES: readonly Tab[] = [
  { id: 'chart', text: 'Chart' },
  { id: 'timeline', text: 'Timeline' },
]

/** Chart, timeline and panels: side by side, or one at a time where there is no room. */
export function RunBody(props: RunBodyProps): JSX.Element {
  const { session, state, step, mode, onMode, onChoose, run, at, ts, goTo, access, api } = props
  const isNarrow = useMedia(NARROW)
  const panels = PANELS.map(({ id, title }) => ({
    id,
    text: title,
    hasAlert: props.needsPerson && id === 'actions',
  }))
  const tabs: readonly Tab[] = isNarrow ? [...PLACES, ...panels] : panels
  const tab = tabs.find(({ id }) => id === props.chosen) ?? tabs[0]
  const Panel = PANELS.find(({ id }) => id === tab?.id)?.Panel
  const chart = (
    <ChartView
      state={state}
      step={step}
      visits={session.visits}
      at={at}
      ts={ts}
      problem={run.history.problem}
      mode={mode}
      onMode={onMode}
    />
  )
  const timeline = <Timeline run={run} marks={session.marks} at={at} goTo={goTo} />
  return (
    <main class="run-body">
      {!isNarrow && chart}
      {!isNarrow && timeline}
      <div class="side">
        <Tabs label="Views" tabs={tabs} chosen={tab?.id ?? ''} controls="side-body" onChoose={onChoose} />
        <div
          class="side-body"
          id="side-body"
          role="tabpanel"
          aria-labelledby={`tab-${tab?.id}`}
          tabIndex={-1}
        >
          <h2 class="hidden-visually">{tab?.text}</h2>
          {tab?.id === 'chart' && chart}
          {tab?.id === 'timeline' && timeline}
          {Panel !== undefined && (
            <Panel key={tab?.id} run={run} at={at} ts={ts} goTo={goTo} access={access} api={api} />
          )}
        </div>
      </div>
    </main>
  )
}
