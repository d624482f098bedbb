/** What a tool does, as far as a summary tells calls apart. */
export type ToolKind = (typeof TOOL_KINDS)[number]

export const TOOL_KINDS = ['read', 'write', 'terminal', 'search', 'other'] as const

/** What is known about the tools of a conversation. */
export interface ToolDeclarations {
  /** By the name of the tool; stronger than what is built in. */
  readonly kinds: Readonly<Record<string, ToolKind>>
  /** Tools that change nothing: they read, unless `kinds` or the list of built-in tools says more. */
  readonly readOnlyTools: readonly string[]
}

const BUILTIN_KINDS: ReadonlyMap<string, ToolKind> = new Map([
  ['read_file', 'read'],
  ['read', 'read'],
  ['list_dir', 'read'],
  ['ls', 'read'],
  ['artifact_fetch', 'read'],
  ['glob', 'search'],
  ['grep', 'search'],
  ['write_file', 'write'],
  ['apply_patch', 'write'],
  ['shell', 'terminal'],
  ['bash', 'terminal'],
])

/**
 * The kind of a tool: what was declared, else what is built in. Never guessed from parts of the name: `thread_create`
 * holds `read`, and `credit_card` holds `edit`.
 */
export function toolKind(name: string, { kinds, readOnlyTools }: ToolDeclarations): ToolKind {
  // A tool may be called `constructor`.
  const declared = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  return declared ?? BUILTIN_KINDS.get(name) ?? (readOnlyTools.includes(name) ? 'read' : 'other')
}
