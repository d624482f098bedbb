import { basename, extname } from 'node:path'

import { LoopchartError } from '../errors.ts'
import type { Agent } from '../loop/agent.ts'
import { chooseAgent, type Runnable } from './choose-agent.ts'
import type { RunFlags } from './run-flags.ts'
import type { Settings } from './settings.ts'

/** The agents of a service, and what the user should know before anything runs. */
export interface ServedAgents {
  readonly agents: Readonly<Record<string, Agent>>
  readonly notes: readonly string[]
}

const DEFAULT_NAME = 'default'

/** Makes the agents that flags and settings name for as long as they are used. Throws `usage` for two of one name. */
export async function withServedAgents<Result>(
  { agent: files = [], ...flags }: Omit<RunFlags, 'agent'> & { readonly agent?: readonly string[] },
  settings: Settings,
  use: (served: ServedAgents) => Promise<Result>,
): Promise<Result> {
  const made = new Map<string, Runnable>()
  try {
    for (const file of files) {
      const name = nameOf(file)
      if (made.has(name)) {
        throw new LoopchartError('usage', `two agents would be called ${name}; rename a file or an export`)
      }
      made.set(name, await chooseAgent({ ...flags, agent: file }, settings))
    }
    if (files.length === 0) made.set(DEFAULT_NAME, await chooseAgent(flags, settings))
    const agents = Object.fromEntries([...made].map(([name, { agent }]) => [name, agent]))
    return await use({ agents, notes: [...made.values()].flatMap(({ notes }) => notes) })
  } finally {
    for (const { close } of made.values()) await close()
  }
}

/** What a client calls an agent: its export, or its file where that is the default one. It is the same at each start. */
function nameOf(place: string): string {
  const [, file = place, name = DEFAULT_NAME] = /^(.+)#([\w$]+)$/u.exec(place) ?? []
  return name === DEFAULT_NAME ? basename(file, extname(file)) : name
}
