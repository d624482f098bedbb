import { NativeStrategy } from './native-strategy.ts'
import { supportsNativeToolHistory, type ToolHistoryCapabilities } from './supports-native-tool-history.ts'
import { TextEmbedStrategy } from './text-embed-strategy.ts'
import type { ToolHistoryStrategy } from './tool-history-strategy.ts'

/** The names under which strategies are set and recorded. */
export type StrategyName = 'native' | 'text-embed'

export interface ChooseStrategyOptions {
  /** `auto` without it. */
  readonly setting?: StrategyName | 'auto'
  readonly capabilities?: ToolHistoryCapabilities
  /** Whether the endpoint has refused native history before in this conversation, by `fallbackFromNative`. */
  readonly hasFallenBack?: boolean
}

/** Which strategy it is, and why; plain data, to be recorded as a decision. */
export interface StrategyChoice {
  readonly strategy: StrategyName
  readonly reason: 'set' | 'supported' | 'not_supported' | 'fell_back'
  /** Whether a refusal may still be answered by falling back to text: once, and only where nobody insisted. */
  readonly canFallBack: boolean
}

/** Chooses how tool work of earlier turns is told to an endpoint. What somebody set is never overruled. */
export function chooseStrategy(options: ChooseStrategyOptions = {}): StrategyChoice {
  const { setting = 'auto', capabilities, hasFallenBack = false } = options
  if (setting !== 'auto') return { strategy: setting, reason: 'set', canFallBack: false }
  if (!supportsNativeToolHistory(capabilities)) {
    return { strategy: 'text-embed', reason: 'not_supported', canFallBack: false }
  }
  if (hasFallenBack) return { strategy: 'text-embed', reason: 'fell_back', canFallBack: false }
  return { strategy: 'native', reason: 'supported', canFallBack: true }
}

/** The strategy of a name. */
export function strategyNamed(name: StrategyName): ToolHistoryStrategy {
  switch (name) {
    case 'native':
      return new NativeStrategy()
    case 'text-embed':
      return new TextEmbedStrategy()
  }
}
