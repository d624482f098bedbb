import type { JSX } from 'preact'

import type { PanelProps } from '../run-model.ts'
import { ActionsPanel } from './actions-panel.tsx'
import { CallsPanel } from './calls-panel.tsx'
import { ComparePanel } from './compare-panel.tsx'
import { ConversationPanel } from './conversation-panel.tsx'
import { EventsPanel } from './events-panel.tsx'
import { ExplainPanel } from './explain-panel.tsx'
import { FramePanel } from './frame-panel.tsx'
import { PanelBoundary } from './panel-boundary.tsx'
import { RequestsPanel } from './requests-panel.tsx'
import { UsagePanel } from './usage-panel.tsx'

/** One panel of the page: what its tab says, and what it shows. */
interface PanelEntry {
  readonly id: string
  readonly title: string
  readonly Panel: (props: PanelProps) => JSX.Element
}

/** The panels in the order of their tabs. Each shows an error of its own in its own place. */
export const PANELS: readonly PanelEntry[] = [
  guarded('conversation', 'Conversation', ConversationPanel),
  guarded('calls', 'Calls', CallsPanel),
  guarded('explain', 'Explain', ExplainPanel),
  guarded('actions', 'Actions', ActionsPanel),
  guarded('events', 'Events', EventsPanel),
  guarded('requests', 'Requests', RequestsPanel),
  guarded('usage', 'Usage', UsagePanel),
  guarded('compare', 'Compare', ComparePanel),
  guarded('frame', 'Frame', FramePanel),
]

function guarded(id: string, title: string, Inner: PanelEntry['Panel']): PanelEntry {
  const Panel = (props: PanelProps): JSX.Element => (
    <PanelBoundary title={title} moment={`${props.run.runId} ${props.at} ${props.run.version}`}>
      <Inner {...props} />
    </PanelBoundary>
  )
  return { id, title, Panel }
}
