import { globSyntax } from './glob-syntax.ts'

/** Whether a path, with `/` between names, fits. */
export type PathTest = (path: string) => boolean

/**
 * Compiles a glob with `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `\` to escape. Takes time in proportion to the
 * path whatever the pattern is. Throws `pattern_invalid`.
 */
export async function compileGlob(pattern: string, options: GlobOptions = {}): Promise<PathTest> {
  return (await compileGlobParts(pattern, options)).isMatch
}

export interface GlobOptions {
  /**
   * Whether wildcards fit a dot at the begin of a name. Not when one looks for files; always when the pattern says
   * what a rule covers, or `src/**` would not cover `src/.env`.
   */
  readonly isHiddenMatched?: boolean
}

/** A compiled glob that also tells where looking is worth it. */
export interface CompiledGlob {
  readonly isMatch: PathTest
  /** Whether something below a folder can fit. */
  readonly canMatchBelow: PathTest
}

/** The same as `compileGlob`, for walking a tree. */
export async function compileGlobParts(
  pattern: string,
  { isHiddenMatched = false }: GlobOptions = {},
): Promise<CompiledGlob> {
  const { files, folders } = globSyntax(pattern, isHiddenMatched)
  const { RE2JS } = await import('re2js')
  const file = RE2JS.compile(files, RE2JS.DOTALL)
  const folder = RE2JS.compile(folders, RE2JS.DOTALL)
  return { isMatch: (path) => file.test(path), canMatchBelow: (path) => folder.test(`${path}/`) }
}
