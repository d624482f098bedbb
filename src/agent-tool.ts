import type { Agent } from './loop/agent.ts'
import type { JsonObject } from './protocol/json.ts'
import { tool, type Tool } from './tools/tool.ts'
import { toolResult } from './tools/tool-result.ts'
import type { AgentResult, ToolSettings } from './tools/tool-settings.ts'

export interface AgentToolOptions extends Pick<
  ToolSettings<JsonObject>,
  'needsApproval' | 'preview' | 'readOnly' | 'timeoutMs' | 'conflicts' | 'maxCalls' | 'aliases'
> {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments; without it there is one, the text `input`. */
  readonly inputSchema?: JsonObject
  /** What the agent is told, made of the arguments. Given with a schema; the arguments as JSON without it. */
  readonly toInput?: (args: JsonObject) => string
}

const TASK: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', minLength: 1, description: 'What to do, in full sentences.' } },
  required: ['input'],
  additionalProperties: false,
}

// A run of its own has limits of its own; this is for one that they do not end.
const TIMEOUT_MS_DEFAULT = 3_600_000

/**
 * An agent as a tool of another. Each call is a run with a log of its own, which the two logs name for each other;
 * after a crash it goes on where it was. Its questions come up in the run that calls it, with the path to the call.
 */
export function agentTool(agent: Agent, options: AgentToolOptions): Tool {
  const { inputSchema = TASK, toInput = defaultInput, ...settings } = options
  return tool({
    timeoutMs: TIMEOUT_MS_DEFAULT,
    ...settings,
    inputSchema,
    // Called again for the same call, it goes on with the run that is there.
    idempotent: true,
    execute: async (args, { runAgent }) => answerOf(await runAgent(agent, toInput(args))),
  })
}

function defaultInput(args: JsonObject): string {
  const { input } = args
  return typeof input === 'string' ? input : JSON.stringify(args)
}

function answerOf({ state, text, output, message }: AgentResult): unknown {
  if (state === 'done') return output ?? text
  const told = `the agent did not finish, it ended as ${state}: ${message}`
  return toolResult({ stdout: text, exitCode: 1, error: { code: 'tool_failed', message: told } })
}
