export { LoopchartError } from './errors.ts'
export type { ErrorCode } from './errors.ts'
export { parseRequest } from './protocol/parse-request.ts'
export { loadStrict } from './protocol/load-strict.ts'
export { tolerant } from './protocol/tolerant.ts'
export type { ValidationProfile } from './protocol/validation-profile.ts'
export type { StreamingEvent, EventType } from './protocol/events.ts'
export type { AnyItem, InputItem, OutputItem } from './protocol/items.ts'
export type { CreateResponseBody } from './protocol/requests.ts'
export type { ResponseResource } from './protocol/responses.ts'
export type { AssembledCall, AssembledResponse } from './stream/assemble-response.ts'
export type { Anomaly, AnomalyCode } from './stream/anomaly.ts'
export type { StreamLimits } from './stream/stream-limits.ts'
export { agent } from './agent.ts'
export type { AgentLimits, AgentOptions, OutputFormat } from './agent.ts'
export type { CompactionOptions } from './agent-compaction.ts'
export type { Agent, RetryPolicy } from './loop/agent.ts'
export type { Clock } from './clock.ts'
export type { Model, ModelRequest, ResponseHead, SendFault, SendRequest } from './loop/model.ts'
export { openResponses } from './provider/open-responses.ts'
export type { OpenResponsesModel, OpenResponsesOptions } from './provider/open-responses.ts'
export { listModels } from './provider/list-models.ts'
export type { ListedModel, ListModelsOptions } from './provider/list-models.ts'
export type { ProfileName } from './provider/profiles.ts'
export { openStore } from './journal/open-store.ts'
export type { OpenStoreOptions, PruneOptions, SqliteStore } from './journal/open-store.ts'
export { defaultStorePath } from './journal/default-store-path.ts'
export type { LogOptions, RunOwner, RunStore, StoredRun } from './journal/run-store.ts'
export type { FrameCursor } from './journal/frame-cursor.ts'
export { checkResume } from './loop/check-resume.ts'
export type { ResumeCheck } from './loop/check-resume.ts'
export { forkRun, replay } from './replay-run.ts'
export type { ForkChange, ForkedRun, ForkOptions } from './replay/fork-run.ts'
export type { Divergence, ReplayResult } from './replay/replay-frames.ts'
export { diffRuns } from './replay/diff-runs.ts'
export type { RunDiff } from './replay/diff-runs.ts'
export { explainRun } from './replay/explain-run.ts'
export type { RunExplanation } from './replay/explain-run.ts'
export { run } from './run.ts'
export type { RunOptions } from './run.ts'
export type { Suspension } from './loop/suspension.ts'
export type { CallSummary } from './loop/restore-run.ts'
export type { EndedRun, ResumeInput, Run, RunResult, SuspendedRun } from './loop/run.ts'
export type { InputPart, RunInput } from './loop/run-input.ts'
export { tool } from './tools/tool.ts'
export { recordResponse } from './loop/record-response.ts'
export type { RecorderOptions } from './loop/record-response.ts'
export { conversation } from './conversation/conversation.ts'
export type {
  CompactionResult,
  CompactionWay,
  ContextOptions,
  Conversation,
  ConversationCompaction,
  ConversationOptions,
  ConversationTurn,
  ConversationUsage,
  ForkConversationOptions,
  Prices,
  RefusalReason,
  RefusedTurn,
  ToolHistorySettings,
  TurnReceipt,
  TurnResult,
} from './conversation/conversation-api.ts'
