import { LoopchartError } from '../errors.ts'
import type { AnyItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Tool } from './tool.ts'
import { freezeDeeply } from './tool-options.ts'

/** A function as declared in `tools` of a request. Its keys are always in this order. */
export interface FunctionDefinition extends JsonObject {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
  readonly strict: boolean
}

/** An item of another type, read as the call of a tool. */
export interface ClaimedCall {
  readonly name: string
  /** JSON text; `null` when the item could not be read, which no tool takes for arguments. */
  readonly arguments: string
}

/** The tools of an agent, by name. */
export interface Registry {
  /**
   * What the model is told, the same bytes in every request: tools in the order they were given, the aliases
   * of each directly behind it.
   */
  readonly definitions: readonly FunctionDefinition[]
  /** Every name a call may use, aliases included, in the order of the definitions. */
  readonly names: readonly string[]
  /** The tool of a name or alias, exactly as spelled. */
  readonly resolve: (name: string) => Tool | null
  /** The call that an item other than a `function_call` stands for, when a tool claims its type. */
  readonly claim: (item: AnyItem) => ClaimedCall | null
}

/** Puts tools together. Throws `tool_invalid` when two of them use one name or claim one item type. */
export function createRegistry(tools: readonly Tool[]): Registry {
  const byName = new Map<string, Tool>()
  const byItemType = new Map<string, Tool>()
  for (const tool of tools) {
    for (const name of [tool.name, ...tool.aliases]) add(byName, name, tool, 'are called')
    for (const type of tool.claims) add(byItemType, type, tool, 'claim items of type')
  }
  const definitions = [...byName].map(([name, tool]): FunctionDefinition => {
    const { description, parameters, strict } = tool
    return { type: 'function', name, description, parameters, strict }
  })
  return Object.freeze({
    definitions: freezeDeeply(definitions),
    names: Object.freeze([...byName.keys()]),
    resolve: (name: string) => byName.get(name) ?? null,
    claim: (item: AnyItem) => {
      const tool = byItemType.get(item.type)
      return tool === undefined ? null : { name: tool.name, arguments: claimText(tool, item) }
    },
  })
}

function add(index: Map<string, Tool>, key: string, tool: Tool, complaint: string): void {
  const other = index.get(key)
  if (other !== undefined) {
    const pair = other.name === tool.name ? 'two tools' : `tools ${other.name} and ${tool.name}`
    throw new LoopchartError('tool_invalid', `${pair} ${complaint} ${key}`)
  }
  index.set(key, tool)
}

function claimText(tool: Tool, item: AnyItem): string {
  try {
    const text: unknown = JSON.stringify(tool.claimArguments(item))
    return typeof text === 'string' ? text : 'null'
  } catch {
    return 'null'
  }
}
