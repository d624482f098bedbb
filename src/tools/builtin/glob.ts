import type { JsonObject } from '../../protocol/json.ts'
import { compileGlobParts } from '../search/glob-pattern.ts'
import { tool, type Tool } from '../tool.ts'
import { toolResult, type ToolResult } from '../tool-result.ts'
import { shownPath } from '../workspace/shown-path.ts'
import { walkFolder, type WalkedEntry } from '../workspace/walk-folder.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { requiredText, textOf } from './arguments.ts'
import { pathSchema, treeOf } from './path-argument.ts'

const RESULTS_MAX = 1000

/** Lets a model find files of the workspace by their names. */
export function globTool({ workspace }: { readonly workspace: Workspace }): Tool {
  return tool({
    name: 'glob',
    description:
      'Find files of the workspace whose path fits a glob pattern, such as src/**/*.ts, and return their paths, one ' +
      'a line, sorted, at most 1000. Supports * ? [a-z] [!a] {a,b} and ** for any folders; *.ts fits only directly ' +
      'in the folder, **/*.ts at any depth. Names that begin with a dot, .git and node_modules are left out unless ' +
      'the pattern names them. Links are not followed.',
    inputSchema: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 1024,
          description: 'The glob pattern, relative to path, with / between names.',
        },
        path: pathSchema('Folder to look in, relative to the workspace. Default: the workspace itself.'),
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    readOnly: true,
    scope: workspace.root,
    touches: (args) => treeOf(workspace, textOf(args, 'path') ?? '.'),
    execute: (args, { signal }) => glob(workspace, args, signal),
  })
}

async function glob(workspace: Workspace, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const pattern = requiredText(args, 'pattern')
  const path = workspace.parse(textOf(args, 'path') ?? '.')
  const { isMatch, canMatchBelow } = await compileGlobParts(pattern)
  const unnamed = new Set(SELDOM_MEANT.filter((name) => !isNamed(pattern, name)))
  const enters = (folder: WalkedEntry): boolean => !unnamed.has(folder.name) && canMatchBelow(folder.path)
  const prefix = path.path === '.' ? '' : `${path.path}/`
  const lines: string[] = []
  let found = 0
  await workspace.withFolder(path, async (start) => {
    for await (const entry of walkFolder(start, { enters, signal })) {
      if (entry.kind === 'folder' || !isMatch(entry.path)) continue
      found += 1
      if (found <= RESULTS_MAX) lines.push(shownPath(prefix + entry.path))
    }
  })
  const leftOut = found - lines.length
  if (leftOut > 0) lines.push(`[files left out: ${leftOut}; use a narrower pattern]`)
  if (found === 0) lines.push('[no file fits]')
  return toolResult({
    stdout: `${lines.join('\n')}\n`,
    artifacts: [{ path: path.path, found, left_out: leftOut }],
  })
}

const SELDOM_MEANT: readonly string[] = ['.git', 'node_modules']

// As a whole name of the pattern, or a choice in its braces.
function isNamed(pattern: string, name: string): boolean {
  return pattern.split(/[/{},]/u).includes(name)
}
