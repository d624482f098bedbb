import type { JsonObject } from '../../../src/protocol/json.ts'
import type { ModelOutput } from '../../../src/tools/encode-output.ts'
import { createRegistry } from '../../../src/tools/registry.ts'
import { runCall, type CallResult, type RunCallOptions } from '../../../src/tools/run-call.ts'
import { tool, type Tool } from '../../../src/tools/tool.ts'
import type { ToolSettings } from '../../../src/tools/tool-settings.ts'
import { ManualClock } from '../../manual-clock.ts'

export const ANY = { mode: 'auto', allowed: null } as const

/** A tool without parameters, called `probe`, which does what the test says. */
export function probe(
  execute: ToolSettings<JsonObject>['execute'],
  settings: Partial<ToolSettings<JsonObject>> = {},
): Tool {
  return tool({
    name: 'probe',
    description: 'Do what the test says.',
    parameters: { type: 'object' },
    execute,
    ...settings,
  })
}

/** Runs one call of a tool on a clock that stands still, unless the test gives its own. */
export function runTool(
  made: Tool,
  {
    args = '{}',
    name = made.name,
    clock = new ManualClock(),
    timeoutMs = made.timeoutMs,
    signal = new AbortController().signal,
    ...callbacks
  }: Partial<RunCallOptions> & {
    readonly args?: string
    readonly name?: string
    readonly clock?: ManualClock
    readonly timeoutMs?: number
  } = {},
): Promise<CallResult> {
  const host = { registry: createRegistry([made]), policy: ANY, clock }
  const call = { callId: 'call_1', name, arguments: args, key: 'run/1/0', timeoutMs }
  return runCall(host, call, { ...callbacks, signal })
}

/** An output that must be text. */
export function textOf(output: ModelOutput): string {
  if (typeof output === 'string') return output
  throw new Error('the output is content parts')
}

/** What the text of an envelope says. */
export function readEnvelope(output: ModelOutput): Envelope {
  const envelope: Envelope = JSON.parse(textOf(output))
  return envelope
}

interface Envelope {
  readonly stdout: string
  readonly stderr: string
  readonly error?: string
}
