// What users test their own loop with. No test framework is needed, and none is in the way.
export { assistantMessage, functionCall, modelError } from './script-turns.ts'
export type { ModelErrorOptions, TurnLike } from './script-turns.ts'
export { scriptedModel } from './scripted-model.ts'
export type { ScriptedModel, ScriptedModelOptions, ScriptedTurn } from './scripted-model.ts'
export { SimulatedClock } from './simulated-clock.ts'
export { startScriptedProvider } from '../provider/scripted/start-scripted-provider.ts'
export type {
  ScriptedProvider,
  ScriptedProviderOptions,
  ScriptFunction,
} from '../provider/scripted/start-scripted-provider.ts'
export type { RecordedRequest } from '../provider/scripted/endpoint.ts'
export { parseScript } from '../provider/scripted/parse-script.ts'
export type {
  Script,
  ScriptCompaction,
  ScriptEnd,
  ScriptFault,
  ScriptItem,
  ScriptTurn,
  ScriptUsage,
} from '../provider/scripted/script.ts'
export { loopPaths } from './loop-paths.ts'
export type { PathOptions } from './loop-paths.ts'
export type { LoopPath } from '../chart/loop-paths.ts'
export { coverLoop } from './cover-loop.ts'
export type { Covered, CoverOptions, LoopCoverage } from './cover-loop.ts'
export type { ClosedWay } from './closed-ways.ts'
export { faultMatrix } from './fault-matrix.ts'
export type { FaultMatrix, MatrixCell, MatrixOptions } from './fault-matrix.ts'
export { RULES } from './invariants.ts'
export type { Rule, Violation } from './invariants.ts'
export type { Samples } from './sample-calls.ts'
