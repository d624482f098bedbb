import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { branchesOf, propertiesOf } from './schema-node.ts'
import { ACTION_VERBS } from './action-verbs.ts'
import type { Tool } from './tool.ts'

/** Something about a tool that will make a model call it wrongly, or not at all. */
export interface ToolHint {
  readonly tool: string
  readonly message: string
}

const DESCRIPTION_LENGTH_MIN = 12
const DESCRIPTION_LENGTH_MAX = 1024
const PARAMETERS_MAX = 20
const NESTING_MAX = 4

const VAGUE_NAMES: ReadonlySet<string> = new Set(
  (
    'action api bar call code command data do exec execute foo func function handle handler helper invoke ' +
    'main manage manager misc my operation perform process run stuff task test thing tool util utility utils'
  ).split(' '),
)

/**
 * Reads tools as a model will read them and says what is likely to confuse it. Advice, not rules: an empty
 * answer promises nothing, and a hint may be wrong about a tool.
 */
export function lintTools(tools: readonly Tool[]): readonly ToolHint[] {
  return tools.flatMap((tool, index) => {
    const messages = [
      ...lintName(tool),
      ...lintDescription(tool.description),
      ...lintParameters(tool.parameters),
      ...lintAgainst(tool, tools.slice(0, index)),
    ]
    return messages.map((message) => ({ tool: tool.name, message }))
  })
}

function lintName({ name, aliases }: Tool): readonly string[] {
  return [name, ...aliases].flatMap((each) => {
    const words = each
      .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split(/[_-]+|\d+/)
    const isVague = words.every((word) => word === '' || VAGUE_NAMES.has(word))
    if (each.length < 2 || isVague) return [`the name ${each} does not say what the tool does`]
    return []
  })
}

function lintDescription(description: string): readonly string[] {
  const words = description.toLowerCase().match(/[\p{L}]+/gu) ?? []
  const messages: string[] = []
  if (description.trim().length < DESCRIPTION_LENGTH_MIN || words.length < 3) {
    messages.push('the description is too short to tell when to use the tool')
  }
  if (description.length > DESCRIPTION_LENGTH_MAX) {
    messages.push(
      `the description is longer than ${DESCRIPTION_LENGTH_MAX} characters, move parts of it to the instructions`,
    )
  }
  if (!words.some((word) => isVerb(word))) {
    messages.push('the description has no verb, begin with what the tool does')
  }
  return messages
}

// The stem or its third person: add, adds, searches, copies.
function isVerb(word: string): boolean {
  const stems = [word, word.replace(/s$/, ''), word.replace(/es$/, ''), word.replace(/ies$/, 'y')]
  return stems.some((stem) => ACTION_VERBS.has(stem))
}

function lintParameters(schema: JsonObject): readonly string[] {
  const messages: string[] = []
  const top = propertiesOf(schema).length
  if (top > PARAMETERS_MAX) messages.push(`it has ${top} parameters, more than ${PARAMETERS_MAX}`)
  const depth = describeNested(schema, '', messages, 1)
  if (depth > NESTING_MAX) messages.push(`its parameters are nested ${depth} levels deep`)
  return messages
}

// Answers with the number of levels of objects and arrays.
function describeNested(node: Json | undefined, path: string, messages: string[], depth: number): number {
  if (!isJsonObject(node)) return depth
  const depths = propertiesOf(node).map(([name, property]) => {
    const at = path === '' ? name : `${path}.${name}`
    if (!isDescribed(property)) messages.push(`the parameter ${at} has no description`)
    return describeNested(property, at, messages, depth + (isNesting(property) ? 1 : 0))
  })
  if (node['items'] !== undefined) {
    depths.push(
      describeNested(node['items'], `${path}[]`, messages, depth + (isNesting(node['items']) ? 1 : 0)),
    )
  }
  for (const branch of branchesOf(node)) depths.push(describeNested(branch, path, messages, depth))
  return Math.max(depth, ...depths)
}

function isNesting(node: Json | undefined): boolean {
  return isJsonObject(node) && (propertiesOf(node).length > 0 || node['items'] !== undefined)
}

// What a reference leads to may carry the description; a constant needs none.
function isDescribed(node: Json): boolean {
  if (!isJsonObject(node)) return false
  const { description, $ref, const: constant } = node
  return (
    (typeof description === 'string' && description.trim() !== '') ||
    $ref !== undefined ||
    constant !== undefined
  )
}

function lintAgainst(tool: Tool, earlier: readonly Tool[]): readonly string[] {
  const messages: string[] = []
  const names = new Set([tool.name, ...tool.aliases].map((name) => name.toLowerCase()))
  for (const other of earlier) {
    if (normalise(other.description) === normalise(tool.description)) {
      messages.push(`the description is the same as that of ${other.name}`)
    }
    for (const name of [other.name, ...other.aliases]) {
      if (names.has(name.toLowerCase())) messages.push(`its name differs from ${name} only in case`)
    }
  }
  return messages
}

function normalise(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
}
