import { LoopchartError } from '../../errors.ts'
import { LIMITS_DEFAULT } from '../process/limit-argv.ts'
import { quoted } from '../quoted.ts'

type Options = Readonly<Record<string, unknown>>

/**
 * Throws `tool_invalid` when the options are none. An option that is spelled wrong would leave the default in force
 * without a word, and some of them are there to make things safer.
 */
export function checkBuiltinOptions(options: unknown): void {
  const { workspace, stateFolder, isAutoEdit, shell } = fieldsOf(options, 'the options', OPTIONS)
  need(isPath(workspace), 'workspace must be the path of a folder')
  need(stateFolder === undefined || isPath(stateFolder), 'stateFolder must be the path of a folder')
  needFlag(isAutoEdit, 'isAutoEdit')
  if (shell !== undefined) checkShell(shell)
}

const OPTIONS: readonly string[] = ['workspace', 'stateFolder', 'isAutoEdit', 'shell']
const SHELL_OPTIONS: readonly string[] = ['sandbox', 'env', 'limits', 'isUnsandboxedAllowed']

function checkShell(shell: unknown): void {
  const { sandbox, env, limits, isUnsandboxedAllowed } = fieldsOf(shell, 'shell', SHELL_OPTIONS)
  need(sandbox === undefined || sandbox === 'auto' || sandbox === 'off', 'shell.sandbox must be auto or off')
  needFlag(isUnsandboxedAllowed, 'shell.isUnsandboxedAllowed')
  if (env !== undefined) checkEnvironment(env)
  if (limits !== undefined) checkLimits(limits)
}

function checkEnvironment(env: unknown): void {
  for (const [name, value] of Object.entries(fieldsOf(env, 'shell.env', null))) {
    const isName = name !== '' && !/[=\0]/u.test(name)
    need(isName, `shell.env: ${quoted(name)} is no name of a variable, which has no = and no NUL in it`)
    const isValue = typeof value === 'string' && !value.includes('\0')
    need(isValue, `shell.env: the value of ${quoted(name)} must be a text without NUL`)
  }
}

function checkLimits(limits: unknown): void {
  const names = Object.keys(LIMITS_DEFAULT)
  for (const [name, value] of Object.entries(fieldsOf(limits, 'shell.limits', names))) {
    const isUnset = value === undefined || (name === 'cpuSecondsMax' && value === null)
    const isCount = Number.isSafeInteger(value) && Number(value) >= 1
    need(isUnset || isCount, `shell.limits.${name} must be a whole number, at least 1`)
  }
}

function fieldsOf(value: unknown, name: string, known: readonly string[] | null): Options {
  if (!isRecord(value)) throw invalid(`${name} must be an object`)
  const unknown = Object.keys(value).find((field) => known?.includes(field) === false)
  if (unknown === undefined) return value
  throw invalid(`${name} cannot have ${quoted(unknown)}, only ${known?.join(', ') ?? ''}`)
}

function isRecord(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isPath(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}

function needFlag(value: unknown, name: string): void {
  need(value === undefined || typeof value === 'boolean', `${name} must be true or false`)
}

function need(condition: boolean, complaint: string): void {
  if (!condition) throw invalid(complaint)
}

function invalid(complaint: string): LoopchartError {
  return new LoopchartError('tool_invalid', `builtinTools: ${complaint}`)
}
