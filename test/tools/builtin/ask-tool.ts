import type { JsonObject } from '../../../src/protocol/json.ts'
import type { PreparedCall, Tool } from '../../../src/tools/tool.ts'
import type { ToolResult } from '../../../src/tools/tool-result.ts'

/** A call of a tool with arguments that its schema takes. */
export async function prepared(tool: Tool, args: JsonObject): Promise<PreparedCall> {
  const preparation = await tool.prepare(args)
  if (!preparation.ok) throw new Error(preparation.message)
  return preparation.call
}

/** What a tool gives when it runs; rejects as it does. */
export async function run(tool: Tool, args: JsonObject, signal?: AbortSignal): Promise<ToolResult> {
  const call = await prepared(tool, args)
  const context = {
    signal: signal ?? new AbortController().signal,
    callId: 'call_1',
    key: 'run/1/0',
    onOutput: () => {},
    runAgent: () => Promise.reject(new Error('there are no agents here')),
  }
  return (await call.execute(context)) as ToolResult
}
