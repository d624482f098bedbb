/**
 * History: what a model is told about earlier turns. This room turns a conversation into items that a request may hold,
 * within budgets, and never decides when: it answers with plain values.
 */
export { compactedItems } from './compaction/compacted-items.ts'
export { itemTokens, planCompaction } from './compaction/plan-compaction.ts'
export type { CompactionPlan, PlanOptions } from './compaction/plan-compaction.ts'
export { summarizeItems } from './compaction/summarize-items.ts'
export type { SummarizeItemsOptions } from './compaction/summarize-items.ts'
export { SUMMARY_INSTRUCTIONS, summaryQuestion } from './compaction/summary-question.ts'
export type { SummaryQuestionOptions } from './compaction/summary-question.ts'
export { compileContext } from './context-bundle/compile-context.ts'
export type {
  CompiledContext,
  CompileOptions,
  ContextSelection,
  SelectedCheckpoint,
} from './context-bundle/compile-context.ts'
export type { ContextStrategy, StrategyReason } from './context-bundle/choose-context-strategy.ts'
export { contextBundleId, writeContextBundle } from './context-bundle/context-bundle.ts'
export type {
  BundleCompaction,
  BundleItem,
  BundleMessage,
  BundleProvenance,
  BundleSummaryRef,
  BundleToolWork,
  ContextBundle,
  LoopchartContextBundle,
  RipContextBundle,
} from './context-bundle/context-bundle.ts'
export type {
  AnswerEntry,
  Checkpoint,
  ConversationEntry,
  ConversationSource,
  MessageEntry,
  ToolWorkEntry,
} from './context-bundle/conversation-source.ts'
export { makeCheckpoint } from './context-bundle/make-checkpoint.ts'
export { parseContextBundle } from './context-bundle/parse-context-bundle.ts'
export { renderBundle } from './context-bundle/render-bundle.ts'
export type { RenderOptions } from './context-bundle/render-bundle.ts'
export type { LeftOut } from './context-bundle/select-turns.ts'
export type { ToolWorkItem } from './context-bundle/tool-work.ts'
export { chooseStrategy, strategyNamed } from './tool-history/choose-strategy.ts'
export type { ChooseStrategyOptions, StrategyChoice, StrategyName } from './tool-history/choose-strategy.ts'
export { computeTruncation } from './tool-history/compute-truncation.ts'
export type { Truncation } from './tool-history/compute-truncation.ts'
export { estimateTokens } from './tool-history/estimate-tokens.ts'
export type { TokenCounter } from './tool-history/estimate-tokens.ts'
export { fallbackFromNative } from './tool-history/fallback-from-native.ts'
export type { FormattedToolEntry } from './tool-history/format-entry.ts'
export { insertToolHistory } from './tool-history/insert-tool-history.ts'
export type { InsertedHistory, InsertOptions, UnpairedItem } from './tool-history/insert-tool-history.ts'
export { NativeStrategy } from './tool-history/native-strategy.ts'
export type { OutputPart, PriorCall, ToolCallEntry } from './tool-history/prior-call.ts'
export { TOOL_HISTORY_DEFAULTS } from './tool-history/read-tool-history-config.ts'
export type {
  ToolHistoryConfig,
  ToolHistoryOptions,
  ToolHistoryTrigger,
} from './tool-history/read-tool-history-config.ts'
export { summarizeToolHistory } from './tool-history/summarize-tool-history.ts'
export type { SummarizeOptions } from './tool-history/summarize-tool-history.ts'
export type { Summarize, SummaryOutcome } from './tool-history/summarize-with-model.ts'
export { supportsNativeToolHistory } from './tool-history/supports-native-tool-history.ts'
export type { ToolHistoryCapabilities } from './tool-history/supports-native-tool-history.ts'
export { TextEmbedStrategy } from './tool-history/text-embed-strategy.ts'
export { ToolHistoryManager } from './tool-history/tool-history-manager.ts'
export type { CompactedHistory, ToolHistoryLogger } from './tool-history/tool-history-manager.ts'
export type { ToolHistoryStrategy } from './tool-history/tool-history-strategy.ts'
export type { ToolKind } from './tool-history/tool-kind.ts'
