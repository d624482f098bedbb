import type { Agent } from '../loop/agent.ts'
import { chooseModel, chooseScripted } from './choose-model.ts'
import { chooseTools } from './choose-tools.ts'
import { loadAgent } from './load-agent.ts'
import { makeAgent, withLimits } from './make-agent.ts'
import type { RunFlags } from './run-flags.ts'
import type { Settings } from './settings.ts'

/** An agent to run, and what goes with it. */
export interface Runnable {
  readonly agent: Agent
  /** Closes what was opened for it. */
  readonly close: () => Promise<void>
  /** What the user should know before anything runs. */
  readonly notes: readonly string[]
}

/** Makes the agent that flags and settings name, or loads it. */
export async function chooseAgent(flags: RunFlags, settings: Settings): Promise<Runnable> {
  const { config } = settings
  if (flags.agent !== undefined) {
    // The module looks for its key where it always does.
    for (const [name, value] of Object.entries(settings.env)) process.env[name] ||= value
    const loaded = await loadAgent(flags.agent)
    return { agent: withLimits(loaded, config.limits), close: () => Promise.resolve(), notes: [] }
  }
  const chosenTools = await chooseTools(flags, settings)
  const chosen =
    flags.provider === 'scripted' ? await chooseScripted(flags.script, settings) : chooseModel(settings)
  try {
    const made = makeAgent(chosen, config, chosenTools)
    return { agent: made, close: chosen.close, notes: chosenTools.notes }
  } catch (error) {
    await chosen.close()
    throw error
  }
}
