// The inspection stream of runs, live or from their logs, and what it can be seen with.
export { RunHistory } from './run-history.ts'
export type { HistoryStep } from './run-history.ts'
export type { ChartEvent } from './step-reader.ts'
export { Inspection, inspectionOf } from './inspection.ts'
export type {
  ActorInspection,
  EventInspection,
  Inspect,
  InspectedSnapshot,
  InspectionEvent,
  MicrostepInspection,
  SnapshotInspection,
  StatelyEvent,
} from './inspection-event.ts'
export { InspectionHub } from './inspection-hub.ts'
export type { InspectionHubOptions } from './inspection-hub.ts'
export { ndjsonFile } from './ndjson-file.ts'
export type { NdjsonFile } from './ndjson-file.ts'
export { STATELY_NOTICE, statelyView } from './stately-view.ts'
export type { StatelyAdapter, StatelyOptions } from './stately-view.ts'
export { connectStately } from './connect-stately.ts'
export type { ConnectStatelyOptions, StatelyConnection } from './connect-stately.ts'
