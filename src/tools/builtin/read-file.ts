import type { JsonObject } from '../../protocol/json.ts'
import type { ArtifactStore } from '../artifacts/artifact-store.ts'
import { artifactFacts } from '../artifacts/describe-artifact.ts'
import { keepOutput } from '../artifacts/keep-output.ts'
import { tool, type Tool } from '../tool.ts'
import { toolResult, type ToolResult } from '../tool-result.ts'
import { readLines } from '../workspace/read-lines.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { requiredText, wholeOf } from './arguments.ts'
import { parseOrNull, pathSchema, readNeed, touchOf } from './path-argument.ts'

export interface ReadFileOptions {
  readonly workspace: Workspace
  readonly artifacts: ArtifactStore
}

/** Lets a model read a text file of the workspace, as a whole or some of its lines. */
export function readFileTool({ workspace, artifacts }: ReadFileOptions): Tool {
  return tool({
    name: 'read_file',
    aliases: ['read'],
    description:
      'Read a text file of the workspace and return its exact text, or only lines start_line to end_line of it. ' +
      'Files over 16 MiB (up to 256 MiB) need a range. Text over 512 KiB is cut in the middle, and artifact_fetch ' +
      'gives the rest. Binary files, folders and devices are refused.',
    inputSchema: {
      type: 'object',
      properties: {
        path: pathSchema('Path of the file, relative to the workspace, such as src/main.ts.'),
        start_line: { type: 'integer', minimum: 1, description: 'First line to return, from 1. Default 1.' },
        end_line: {
          type: 'integer',
          minimum: 1,
          description: 'Last line to return, itself included. Default: the last of the file.',
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    readOnly: true,
    scope: workspace.root,
    touches: (args) => touchOf(workspace, requiredText(args, 'path'), 'read'),
    needsApproval: (args) => {
      const path = parseOrNull(workspace, requiredText(args, 'path'), 'read')
      return path === null ? false : readNeed(path.kind)
    },
    preview: (args) => previewOf(workspace, args),
    execute: (args, { signal }) => readFile({ workspace, artifacts }, args, signal),
  })
}

function previewOf(workspace: Workspace, args: JsonObject): string {
  const { path } = workspace.parse(requiredText(args, 'path'))
  const from = wholeOf(args, 'start_line')
  const to = wholeOf(args, 'end_line')
  return from === undefined && to === undefined
    ? `read ${path}`
    : `read ${path}, lines ${from ?? 1} to ${to ?? 'the last'}`
}

async function readFile(
  { workspace, artifacts }: ReadFileOptions,
  args: JsonObject,
  signal: AbortSignal,
): Promise<ToolResult> {
  const path = workspace.parse(requiredText(args, 'path'))
  const lines = await readLines(workspace, path, {
    first: wholeOf(args, 'start_line'),
    last: wholeOf(args, 'end_line'),
    signal,
  })
  const kept = await keepOutput(artifacts, lines.bytes)
  const facts = {
    path: path.path,
    bytes: lines.fileBytes,
    start_line: lines.first,
    end_line: lines.last,
    total_lines: lines.total,
    ...artifactFacts(kept),
  }
  return toolResult({ stdout: kept.text, artifacts: [facts] })
}
