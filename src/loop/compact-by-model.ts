import type { TokenUsage } from '../../machines/loop.types.ts'
import type { Agent, CompactionPlan, CompactionPort } from './agent.ts'
import type { CompactAttempt, CompactWork } from './compact-attempt.ts'
import { textAgent } from './text-agent.ts'
import { sumUsage } from './usage.ts'

/** What stands for a call in the log of a run whose summary is a run of its own. */
export const COMPACT_CALL = 'compact'

/**
 * Has the model write the summary, in a run of its own that the log names: after a crash it is taken up where it was.
 * What it used counts, also when nothing came of it.
 */
export async function compactByModel(
  agent: Agent,
  port: CompactionPort,
  plan: CompactionPlan,
  { input, io, children }: CompactWork,
): Promise<CompactAttempt> {
  if (children === null) return { items: null, usage: null, detail: 'no run can be started here' }
  let usage: TokenUsage | null = null
  const failed = (detail: string): CompactAttempt => ({ items: null, usage, detail })
  const { turn, model: at, left } = input
  const model = at === 0 ? undefined : agent.models[at]
  const writer = textAgent(agent, { instructions: port.instructions, ...(model !== undefined && { model }) })
  const call = {
    callId: COMPACT_CALL,
    key: `${io.runId}/${COMPACT_CALL}/${turn}`,
    left,
    signal: io.signal,
    isOptional: true,
    onUsage: (more: TokenUsage) => void (usage = sumUsage(usage, more)),
  }
  try {
    const { state, message, text } = await children.run(writer, port.question(plan), call, io)
    if (state !== 'done') return failed(`the model gave no summary: ${message}`)
    if (text.trim() === '') return failed('the model gave an empty summary')
    return { items: port.withSummary(plan, text), usage, detail: null }
  } catch (error) {
    return failed(error instanceof Error ? error.message : 'the model could not be asked')
  }
}
