import { LoopchartError } from '../../errors.ts'
import { isJsonObject } from '../../protocol/json.ts'
import { quoted } from '../quoted.ts'
import { globSyntax } from '../search/glob-syntax.ts'

/** Throws `agent_invalid`, with the place, unless all of these are rules that can fit a call. */
export function checkRules(rules: unknown, toolNames: readonly string[] | null): void {
  if (!Array.isArray(rules)) throw new LoopchartError('agent_invalid', 'policy must be a list of rules')
  rules.forEach((rule: unknown, at) => checkRule(rule, `policy[${at}]`, toolNames))
}

const FIELDS: ReadonlySet<string> = new Set(['decision', 'tool', 'path', 'access', 'argv'])

function checkRule(rule: unknown, name: string, toolNames: readonly string[] | null): void {
  const need = (condition: boolean, complaint: string): void => {
    if (!condition) throw new LoopchartError('agent_invalid', `${name}${complaint}`)
  }
  if (!isJsonObject(rule)) return need(false, ' must be an object')
  const { decision, tool, path, access, argv } = rule
  const unknown = Object.keys(rule).find((field) => !FIELDS.has(field))
  need(unknown === undefined, `: there is no field ${JSON.stringify(unknown)}`)
  need(
    decision === 'deny' || decision === 'ask' || decision === 'allow',
    '.decision must be deny, ask or allow',
  )
  need(typeof tool === 'string' && tool !== '', '.tool must be the name of a tool, or *')
  if (typeof tool === 'string' && tool !== '*' && toolNames?.includes(tool) === false) {
    need(false, `.tool: there is no tool ${quoted(tool)}; ${available(toolNames)}`)
  }
  need(path === undefined || (typeof path === 'string' && path !== ''), '.path must be a glob')
  if (typeof path === 'string') checkGlob(path, `${name}.path`)
  need(access === undefined || access === 'read' || access === 'write', '.access must be read or write')
  need(access === undefined || path !== undefined, '.access needs a path')
  const isArgv = Array.isArray(argv) && argv.length > 0 && argv.every((part) => typeof part === 'string')
  need(argv === undefined || isArgv, '.argv must be a list of texts')
  need(path === undefined || argv === undefined, ' can be about a path or a command, not both')
}

/** A glob that no path of a workspace can fit would be a rule that protects nothing. */
function checkGlob(path: string, name: string): void {
  const refuse = (complaint: string, cause?: unknown): LoopchartError =>
    new LoopchartError('agent_invalid', `${name}: ${complaint}`, { cause })
  if (/^(?:~|[a-z]:)/iu.test(path)) {
    throw refuse('no path of a workspace begins like this; say it relative to the workspace')
  }
  try {
    globSyntax(path, true)
  } catch (error) {
    throw error instanceof LoopchartError ? refuse(error.message, error) : error
  }
}

function available(toolNames: readonly string[]): string {
  return toolNames.length === 0 ? 'the agent has none' : `the agent has ${toolNames.join(', ')}`
}
