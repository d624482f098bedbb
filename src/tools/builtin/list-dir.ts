import { lstat, readlink } from 'node:fs/promises'

import type { JsonObject } from '../../protocol/json.ts'
import { tool, type Tool } from '../tool.ts'
import { toolResult, type ToolResult } from '../tool-result.ts'
import { shownPath } from '../workspace/shown-path.ts'
import { walkFolder, type WalkedEntry } from '../workspace/walk-folder.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { flagOf, textOf, wholeOf } from './arguments.ts'
import { pathSchema, touchOf } from './path-argument.ts'

const ENTRIES_SHOWN_MAX = 1000
const DEPTH_MAX = 64

/** Lets a model list a folder of the workspace. */
export function listDirTool({ workspace }: { readonly workspace: Workspace }): Tool {
  return tool({
    name: 'list_dir',
    aliases: ['ls'],
    description:
      'List a folder of the workspace, one entry a line: folders end with /, files have their size in bytes after ' +
      'a tab, links show where they lead and are not followed. Shows at most 1000 entries and says how many it ' +
      'left out. With depth above 1 it goes into folders, but not into .git and node_modules.',
    inputSchema: {
      type: 'object',
      properties: {
        path: pathSchema('Path of the folder, relative to the workspace. Default: the workspace itself.'),
        depth: {
          type: 'integer',
          minimum: 1,
          maximum: DEPTH_MAX,
          description: 'How many levels to list. Default 1: only what is directly in the folder.',
        },
        hidden: { type: 'boolean', description: 'Also show names that begin with a dot. Default false.' },
      },
      additionalProperties: false,
    },
    readOnly: true,
    scope: workspace.root,
    touches: (args) => {
      const reach = (wholeOf(args, 'depth') ?? 1) > 1 ? { isTree: true } : { isListing: true }
      return touchOf(workspace, textOf(args, 'path') ?? '.', 'read', reach)
    },
    execute: (args, { signal }) => listDir(workspace, args, signal),
  })
}

async function listDir(workspace: Workspace, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
  const path = workspace.parse(textOf(args, 'path') ?? '.')
  const depthMax = wholeOf(args, 'depth') ?? 1
  const isHiddenShown = flagOf(args, 'hidden') ?? false
  const isShown = ({ name }: WalkedEntry): boolean => isHiddenShown || !name.startsWith('.')
  const enters = (folder: WalkedEntry): boolean =>
    isShown(folder) && folder.path.split('/').length < depthMax && !UNENTERED.has(folder.name)
  const lines: string[] = []
  let entries = 0
  let hidden = 0
  await workspace.withFolder(path, async (start) => {
    for await (const entry of walkFolder(start, { enters, signal })) {
      if (!isShown(entry)) {
        hidden += 1
        continue
      }
      entries += 1
      if (entries <= ENTRIES_SHOWN_MAX) lines.push(await lineOf(entry))
    }
  })
  const leftOut = entries - lines.length
  if (leftOut > 0) lines.push(`[entries left out: ${leftOut}; list a folder in it, or use glob]`)
  if (entries === 0) lines.push(hidden === 0 ? '[the folder is empty]' : '[nothing but hidden entries]')
  if (hidden > 0) lines.push(`[hidden entries not shown: ${hidden}; hidden: true shows them]`)
  const facts = { path: path.path, entries, hidden, left_out: leftOut }
  return toolResult({ stdout: `${lines.join('\n')}\n`, artifacts: [facts] })
}

const UNENTERED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

async function lineOf({ path, name, kind, folder }: WalkedEntry): Promise<string> {
  const shown = shownPath(path)
  const at = `${folder}/${name}`
  // An entry can be gone by the time it is looked at.
  switch (kind) {
    case 'folder':
      return `${shown}/`
    case 'link':
      return `${shown} -> ${await readlink(at).then(shownPath, () => '?')}`
    case 'file':
      return `${shown}\t${await lstat(at).then(
        ({ size }) => size,
        () => '?',
      )}`
    case 'other':
      return `${shown}\t[not a regular file]`
  }
}
