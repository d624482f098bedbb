import { lstat } from 'node:fs/promises'

import { LoopchartError } from '../../errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { cutMiddle } from '../cut-middle.ts'
import { tool, type Tool } from '../tool.ts'
import { toolResult, type ToolResult } from '../tool-result.ts'
import { visibleText } from '../visible-text.ts'
import { unifiedDiff } from '../workspace/unified-diff.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'
import { requiredText } from './arguments.ts'
import { parseOrNull, pathSchema, touchOf, writeNeed } from './path-argument.ts'

export interface WriteFileOptions {
  readonly workspace: Workspace
  /** Whether plain files are written without asking. */
  readonly isAutoEdit: boolean
}

const CONTENT_LENGTH_MAX = 8 * 1024 * 1024
const PREVIEW_LENGTH_MAX = 4000
const COMPARED_BYTES_MAX = 1024 * 1024

/** Lets a model create a file of the workspace or replace it as a whole. */
export function writeFileTool({ workspace, isAutoEdit }: WriteFileOptions): Tool {
  const pathOf = (args: JsonObject): WorkspacePath => workspace.parse(requiredText(args, 'path'), 'write')
  return tool({
    name: 'write_file',
    description:
      'Create a text file of the workspace, or replace the whole content of one. Makes missing folders. Use ' +
      'apply_patch to change parts of a file. The content is written exactly as given: end it with a line end.',
    inputSchema: {
      type: 'object',
      properties: {
        path: pathSchema('Path of the file, relative to the workspace, such as src/main.ts.'),
        content: {
          type: 'string',
          maxLength: CONTENT_LENGTH_MAX,
          description: 'The whole new content of the file.',
        },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    idempotent: true,
    scope: workspace.root,
    conflicts: (args) => [pathOf(args).path],
    touches: (args) => touchOf(workspace, requiredText(args, 'path'), 'write'),
    needsApproval: (args) => {
      const path = parseOrNull(workspace, requiredText(args, 'path'), 'write')
      return path === null ? false : writeNeed(path.kind, isAutoEdit)
    },
    preview: (args) => previewOf(workspace, pathOf(args), requiredText(args, 'content')),
    execute: (args) => writeFile(workspace, pathOf(args), requiredText(args, 'content')),
  })
}

async function writeFile(workspace: Workspace, path: WorkspacePath, content: string): Promise<ToolResult> {
  if (!content.isWellFormed()) {
    throw new LoopchartError(
      'tool_arguments_invalid',
      'content has half a surrogate pair, which no file can hold',
    )
  }
  const action = (await entryAt(workspace, path)) === null ? 'created' : 'replaced'
  const bytes = Buffer.from(content)
  await workspace.replaceFile(path, bytes)
  const facts = { path: path.path, action, bytes: bytes.length, lines: lineCount(content) }
  return toolResult({ stdout: `${action} ${path.path}: ${sizeText(content)}\n`, artifacts: [facts] })
}

async function previewOf(workspace: Workspace, path: WorkspacePath, content: string): Promise<string> {
  const old = await entryAt(workspace, path)
  if (old === null) return shown(`create ${path.path}: ${sizeText(content)}`, content)
  const head = `replace ${old === 'link' ? 'the link ' : ''}${path.path}: ${sizeText(content)}`
  // What is in a secret file is not put on the screen and into the log to ask about a change of it.
  const isSecret = path.kind === 'secret' || workspace.parse(path.path, 'read').kind === 'secret'
  const before = isSecret || old === 'link' ? null : await textOf(workspace, path)
  if (before === null) return shown(`${head}; the old content is not shown`, content)
  const diff = unifiedDiff(before, content)
  return shown(head, diff === '' ? '[nothing changes]\n' : `--- a/${path.path}\n+++ b/${path.path}\n${diff}`)
}

function shown(head: string, body: string): string {
  return cutMiddle(`${head}\n${visibleText(body)}`, PREVIEW_LENGTH_MAX, 'plain')
}

/** What is there now, by its name only; null when nothing is. */
async function entryAt(workspace: Workspace, path: WorkspacePath): Promise<'link' | 'other' | null> {
  const parent = workspace.parse(path.names.slice(0, -1).join('/') || '.', 'write')
  try {
    return await workspace.withFolder({ ...parent, kind: path.kind }, async (folder) => {
      const entry = await lstat(`${folder}/${path.names.at(-1) ?? '.'}`)
      return entry.isSymbolicLink() ? 'link' : 'other'
    })
  } catch (error) {
    if (error instanceof LoopchartError && error.code === 'path_not_found') return null
    throw error
  }
}

/** Null when it is too large to compare, or no text. */
async function textOf(workspace: Workspace, path: WorkspacePath): Promise<string | null> {
  try {
    const { bytes } = await workspace.readFile(path, COMPARED_BYTES_MAX)
    return bytes.includes(0) ? null : bytes.toString('utf8')
  } catch (error) {
    if (error instanceof LoopchartError && error.code === 'file_too_large') return null
    throw error
  }
}

function sizeText(content: string): string {
  return `${counted(Buffer.byteLength(content), 'byte')}, ${counted(lineCount(content), 'line')}`
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function lineCount(content: string): number {
  if (content === '') return 0
  return content.split('\n').length - (content.endsWith('\n') ? 1 : 0)
}
