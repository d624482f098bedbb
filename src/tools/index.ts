/**
 * Tools: what a model can call. This room describes functions to the model, reads and checks what it calls
 * them with, runs them within bounds, and writes their results in the form that goes back. It decides nothing
 * about the loop: it answers with plain values.
 */
export { builtinTools } from './builtin/builtin-tools.ts'
export type { BuiltinOptions } from './builtin/builtin-tools.ts'
export type { ShellOptions } from './builtin/shell.ts'
export { instructions } from './instructions.ts'
export type { InstructionParts } from './instructions.ts'
export { lintTools } from './lint-tools.ts'
export type { ToolHint } from './lint-tools.ts'
export type { PolicyDecision, PolicyRule } from './policy/policy.ts'
export type { ContentPart } from './content-parts.ts'
export type { StandardSchema } from './standard-schema.ts'
export { tool } from './tool.ts'
export type { Tool } from './tool.ts'
export type { ToolChoicePolicy } from './tool-choice-policy.ts'
export type {
  AgentResult,
  ApprovalNeed,
  OutputEncoding,
  OutputListener,
  RunAgent,
  ToolContext,
  ToolOptions,
  ToolSettings,
  Touch,
} from './tool-settings.ts'
export { toolResult } from './tool-result.ts'
export type { ToolResult, ToolResultOptions } from './tool-result.ts'
