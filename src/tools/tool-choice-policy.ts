/**
 * Which tools the model may call in a turn. A provider is asked for the same, but what comes back is checked
 * here: a call outside it never runs.
 */
export interface ToolChoicePolicy {
  readonly mode: 'auto' | 'none' | 'required'
  /** Names of tools or of aliases; null for all. The name of a tool lets its aliases in. */
  readonly allowed: readonly string[] | null
}

/** Whether a call by one of the names of a tool may run. */
export function isAllowed({ mode, allowed }: ToolChoicePolicy, calledAs: string, toolName: string): boolean {
  if (mode === 'none') return false
  return allowed === null || allowed.includes(calledAs) || allowed.includes(toolName)
}
