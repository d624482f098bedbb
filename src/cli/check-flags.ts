import { LoopchartError } from '../errors.ts'
import { builtinFlags } from './choose-tools.ts'
import type { RunFlags } from './run-flags.ts'

/** Throws `usage` for flags that contradict each other or that nothing would come of. */
export function checkFlags({ provider, script, agent: file, ...flags }: RunFlags): void {
  if (provider !== undefined && provider !== 'scripted') {
    throw new LoopchartError('usage', '--provider must be scripted; for any other give its --base-url')
  }
  if (script !== undefined && provider === undefined) {
    throw new LoopchartError('usage', '--script needs --provider scripted')
  }
  if (provider !== undefined && flags.baseUrl !== undefined) {
    throw new LoopchartError('usage', '--provider scripted and --base-url contradict each other; give one')
  }
  if (file === undefined) return
  const { baseUrl, apiKeyFile, model, continuity, stream, retries, contextWindow, tools } = flags
  const given = {
    '--provider': provider,
    '--base-url': baseUrl,
    '--api-key-file': apiKeyFile,
    '--model': model,
    '--continuity': continuity,
  }
  const more = {
    '--no-stream': stream === false ? true : undefined,
    '--retries': retries,
    '--context-window': contextWindow,
    '--tools': tools,
    ...builtinFlags(flags),
  }
  const first = firstGiven({ ...given, ...more })
  if (first !== null) {
    throw new LoopchartError(
      'usage',
      `${first} has no effect with --agent: the agent's file says that; leave it out`,
    )
  }
}

/** Throws `usage` for flags about a conversation when there is none. */
export function checkNoConversation({ price, budget, crossRunCursor, compactWay }: RunFlags): void {
  const first = firstGiven({
    '--price': price,
    '--budget': budget,
    '--cross-run-cursor': crossRunCursor,
    '--compact-way': compactWay,
  })
  if (first === null) return
  throw new LoopchartError(
    'usage',
    `${first} is about a conversation; add --conversation ID, or leave it out`,
  )
}

function firstGiven(flags: Readonly<Record<string, unknown>>): string | null {
  return Object.entries(flags).find(([, value]) => value !== undefined)?.[0] ?? null
}
