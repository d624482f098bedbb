// The chart itself, for people who use XState: to start it, to invoke it, to look at it.
export { CHART_VERSION, loopMachine } from '../machines/loop.machine.ts'
export { loopInput } from './loop/loop-input.ts'
export { provideLoop } from './inspect/provide-loop.ts'
export type { ProvideOptions } from './inspect/provide-loop.ts'
export type {
  LoopCommand,
  LoopContext,
  LoopEvent,
  LoopInput,
  LoopOutput,
  LoopSettings,
  RespondInput,
  RespondOutput,
} from '../machines/loop.types.ts'
