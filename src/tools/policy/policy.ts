import { compileGlobParts, type CompiledGlob } from '../search/glob-pattern.ts'
import type { Touch } from '../tool-settings.ts'
import { checkRules } from './check-rules.ts'

export type PolicyDecision = 'deny' | 'ask' | 'allow'

/** What may be done without asking, what must be asked about, what may not be done at all. */
export interface PolicyRule {
  readonly decision: PolicyDecision
  /** The name of a tool or of an alias; `*` for every tool. */
  readonly tool: string
  /** Only calls about paths that this glob covers, relative to the workspace. */
  readonly path?: string
  /** With `path`: only calls that use it in this way. */
  readonly access?: 'read' | 'write'
  /** Only calls of this very command: the program and each argument, nothing more and nothing less. */
  readonly argv?: readonly string[]
}

/** What the rules say about a call. */
export interface PolicyVerdict {
  readonly decision: PolicyDecision
  /** The rule that decided; null when there is a rule about the tool, and nobody can tell whether it fits. */
  readonly rule: PolicyRule | null
}

/** Rules that are ready to be asked. */
export interface Policy {
  /** The strictest of the rules that fit; null when none does. Deny goes before ask, and ask before allow. */
  readonly decide: (names: readonly string[], touches: KnownTouches) => Promise<PolicyVerdict | null>
}

/** What a call would use; null when its tool does not say, `unreadable` when it cannot. */
type KnownTouches = readonly Touch[] | 'unreadable' | null

// A call that touches more than this is not one that rules were made for.
const TOUCHES_MAX = 500

/**
 * Makes a policy of rules. What cannot be told is decided by the strictest answer: a call that touches too much, or
 * that cannot be read, is denied; where a tool does not say what it touches, rules that deny or ask about a path or a
 * command fit, and rules that allow one do not. Throws `agent_invalid` for a rule that cannot be read, that can never
 * fit, or that names a tool which is not among `toolNames`; null: nobody knows which tools there are.
 */
export function makePolicy(rules: readonly PolicyRule[], toolNames: readonly string[] | null): Policy {
  checkRules(rules, toolNames)
  return {
    decide: async (names, touches) => {
      const about = rules.filter(({ tool }) => tool === '*' || names.includes(tool))
      if (about.length === 0) return null
      if (touches === 'unreadable' || (touches?.length ?? 0) > TOUCHES_MAX) {
        return { decision: 'deny', rule: null }
      }
      for (const decision of ['deny', 'ask', 'allow'] as const) {
        for (const rule of about)
          if (rule.decision === decision && (await fits(rule, touches))) return { decision, rule }
      }
      return null
    },
  }
}

async function fits(rule: PolicyRule, touches: readonly Touch[] | null): Promise<boolean> {
  const { path, argv, decision } = rule
  if (path === undefined && argv === undefined) return true
  if (touches === null) return decision !== 'allow'
  // Rules cover hidden names too: one about everything in a folder means all of it.
  const glob = path === undefined ? null : await compileGlobParts(path, { isHiddenMatched: true })
  const isMeant = (touch: Touch): boolean => {
    if (touch.kind === 'command') return argv !== undefined && isSameCommand(argv, touch.argv)
    if (glob === null || (rule.access ?? touch.access) !== touch.access) return false
    return decision === 'allow' ? isAllCovered(glob, touch, rule) : isAnyCovered(glob, touch)
  }
  // To allow a call is to allow all that it touches; one thing is enough to forbid it.
  return decision === 'allow' ? touches.length > 0 && touches.every(isMeant) : touches.some(isMeant)
}

type PathTouch = Extract<Touch, { readonly kind: 'path' }>

/** To forbid: the path, a folder that it lies in, or something of what is used below it. */
function isAnyCovered({ isMatch, canMatchBelow }: CompiledGlob, touch: PathTouch): boolean {
  const { path, isTree = false, isListing = false } = touch
  if (withFoldersOf(path).some(isMatch) || (isListing && isMatch(entryOf(path)))) return true
  return isTree && (path === '.' || canMatchBelow(path))
}

/** To allow: the path by itself, and with a folder that is looked through all that can be below it. */
function isAllCovered({ isMatch }: CompiledGlob, touch: PathTouch, { path: pattern }: PolicyRule): boolean {
  const { path, isTree = false, isListing = false } = touch
  if (!isTree) return isMatch(path) || (isListing && isMatch(entryOf(path)))
  const folder = pattern?.endsWith('/**') === true ? pattern.slice(0, -'/**'.length) : null
  return pattern === '**' || path === folder || (folder !== null && path.startsWith(`${folder}/`))
}

/** A path and all folders on the way to it. */
function withFoldersOf(path: string): readonly string[] {
  const names = path.split('/')
  return names.map((_, index) => names.slice(0, index + 1).join('/'))
}

// No pattern is about this name, so one that fits it fits whatever is in the folder.
const ANY_NAME = '\u0001'.repeat(64)

function entryOf(folder: string): string {
  return folder === '.' ? ANY_NAME : `${folder}/${ANY_NAME}`
}

function isSameCommand(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at])
}
