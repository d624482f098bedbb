import type { Frame } from '../../frames/generated/frame.ts'
import type { RunHistory } from '../run-history.ts'
import type { Api } from './api.ts'
import type { Access, RunSummary } from './answers.ts'

/** One run as the page has it: what was read of its log so far, and the states that follow from it. */
export interface RunModel {
  readonly runId: string
  /** The frame at index `n` has seq `n`. The array grows in place and is never replaced: look at `version`. */
  readonly frames: readonly Frame[]
  /** Counts up whenever anything here has changed. */
  readonly version: number
  readonly history: RunHistory
  /** No frame will follow. */
  readonly isEnded: boolean
  /** Frames that are written now arrive as they are written. */
  readonly isLive: boolean
  /** What the service says of the run; read again when the run moves. Null until it has answered. */
  readonly summary: RunSummary | null
}

/** What every panel is given. */
export interface PanelProps {
  readonly run: RunModel
  /** The cursor: seq of the last frame that counts. -1 while there is no frame. */
  readonly at: number
  /** The time at the cursor: that of its frame, or what it is now while the run is followed as it goes on. */
  readonly ts: number
  /** Moves the cursor, and stops following the run. */
  readonly goTo: (seq: number) => void
  readonly access: Access
  readonly api: Api
}
