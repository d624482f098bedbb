import { LoopchartError } from '../../errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { ArtifactStore } from '../artifacts/artifact-store.ts'
import { artifactFacts } from '../artifacts/describe-artifact.ts'
import { keepOutput } from '../artifacts/keep-output.ts'
import { compileGlob } from '../search/glob-pattern.ts'
import { renderHits } from '../search/render-hits.ts'
import { search, type SearchEngine } from '../search/search.ts'
import { translatePattern } from '../search/translate-pattern.ts'
import { tool, type Tool } from '../tool.ts'
import { toolResult, type ToolResult } from '../tool-result.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'
import { flagOf, requiredText, textOf, wholeOf } from './arguments.ts'
import { pathSchema, treeOf } from './path-argument.ts'

const RESULTS_DEFAULT = 100

export interface GrepOptions {
  readonly workspace: Workspace
  readonly artifacts: ArtifactStore
  /** `auto` without it: ripgrep when PATH has one. The output is the same with either. */
  readonly engine?: SearchEngine
}

/** Lets a model search the text of the workspace's files. */
export function grepTool(options: GrepOptions): Tool {
  const { workspace } = options
  return tool({
    name: 'grep',
    description:
      'Search the text of files of the workspace for lines that match a regular expression, and return them as ' +
      'path:line:text, sorted by path and line. A line is matched on its own. Known: . [a-z] [^a] | ( ) (?:) (?i) ^ $ ' +
      String.raw`* + ? {n,m} and, in ASCII, \d \w \s \b; no look-around, no back-references. Left out are hidden files, ` +
      'node_modules, links, secret files such as keys, binary files, files over 4 MiB and lines over 64 KiB.',
    inputSchema: {
      type: 'object',
      properties: PROPERTIES,
      required: ['pattern'],
      additionalProperties: false,
    },
    readOnly: true,
    scope: workspace.root,
    touches: (args) => treeOf(workspace, textOf(args, 'path') ?? '.'),
    execute: (args, { signal }) => grep(options, args, signal),
  })
}

const PROPERTIES = {
  pattern: { type: 'string', minLength: 1, maxLength: 1000, description: 'What to search for.' },
  path: pathSchema('Folder or file to search, relative to the workspace. Default: the workspace itself.'),
  include: {
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    description:
      'Search only files that fit this glob: by name, such as *.ts, or with a / in it by path, relative to path, ' +
      'such as src/**/*.ts.',
  },
  literal: { type: 'boolean', description: 'Search for the pattern as plain text. Default false.' },
  ignore_case: { type: 'boolean', description: 'Take upper and lower case for the same. Default false.' },
  context_lines: {
    type: 'integer',
    minimum: 0,
    maximum: 10,
    description: 'How many lines to show before and after each match. Default 0.',
  },
  max_results: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    description: `How many matching lines to return. Default ${RESULTS_DEFAULT}.`,
  },
} as const

async function grep(options: GrepOptions, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const { workspace, artifacts, engine = 'auto' } = options
  const root = openPath(workspace, textOf(args, 'path') ?? '.')
  const pattern = translatePattern(requiredText(args, 'pattern'), {
    isLiteral: flagOf(args, 'literal') ?? false,
    isCaseIgnored: flagOf(args, 'ignore_case') ?? false,
  })
  const include = textOf(args, 'include') ?? null
  const request = { workspace, root, pattern, isIncluded: await includeTest(include), signal }
  const found = await search(request, nameGlobOf(include), engine)
  const hitsMax = wholeOf(args, 'max_results') ?? RESULTS_DEFAULT
  const contextLines = wholeOf(args, 'context_lines') ?? 0
  const lines = await renderHits(workspace, found.sorted(), { contextLines, hitsMax, signal })
  const kept = await keepOutput(
    artifacts,
    Buffer.from([...lines, ...closingNote(found.count, hitsMax), ''].join('\n')),
  )
  return toolResult({
    stdout: kept.text,
    artifacts: [{ path: root.path, found: found.count, ...artifactFacts(kept) }],
  })
}

function openPath(workspace: Workspace, given: string): WorkspacePath {
  const path = workspace.parse(given)
  if (path.kind !== 'secret') return path
  const message = `${path.path} is secret and not searched; read_file gives it, once a person agrees`
  throw new LoopchartError('path_refused', message)
}

async function includeTest(include: string | null): Promise<(rest: string) => boolean> {
  if (include === null) return () => true
  const isMatch = await compileGlob(include)
  return include.includes('/') ? isMatch : (rest) => isMatch(rest.slice(rest.lastIndexOf('/') + 1))
}

/** The glob, if ripgrep reads it as we do. The rest is left to us: two dialects would find two things. */
function nameGlobOf(include: string | null): string | null {
  return include !== null && /^[\w.*-]+$/.test(include) && !include.includes('**') ? include : null
}

function closingNote(found: number, hitsMax: number): readonly string[] {
  if (found === 0) return ['[no line matches]']
  if (found <= hitsMax) return []
  return [
    `[${found - hitsMax} more matching lines left out; use a narrower pattern or path, or a larger max_results]`,
  ]
}
