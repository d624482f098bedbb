/** What is known about an endpoint. */
export interface ToolHistoryCapabilities {
  /** Whether it takes `function_call` items as input. */
  readonly nativeToolHistory?: boolean
}

/**
 * Whether an endpoint may be told about earlier calls as `function_call` items. The only place that decides it; false
 * unless the endpoint is known to take them.
 */
export function supportsNativeToolHistory(capabilities: ToolHistoryCapabilities = {}): boolean {
  return capabilities.nativeToolHistory === true
}
