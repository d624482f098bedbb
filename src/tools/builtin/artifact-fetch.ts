import { isUtf8 } from 'node:buffer'

import type { JsonObject } from '../../protocol/json.ts'
import type { ArtifactStore } from '../artifacts/artifact-store.ts'
import { nextBoundary } from '../artifacts/utf8-boundary.ts'
import { tool, type Tool } from '../tool.ts'
import { toolResult, type ToolResult } from '../tool-result.ts'
import { requiredText, wholeOf } from './arguments.ts'

const LENGTH_DEFAULT = 64 * 1024
const LENGTH_MAX = 512 * 1024
// A character has at most four bytes, so three on each side tell whether an end of the range is inside of one.
const AROUND = 3

/** Lets a model read what was cut from a large output. */
export function artifactFetchTool({ artifacts }: { readonly artifacts: ArtifactStore }): Tool {
  return tool({
    name: 'artifact_fetch',
    description:
      'Return a range of the text of a large output that was stored, by the id that its result gave. The range has ' +
      'the characters that begin in it, so ranges that follow each other add up to the whole text.',
    inputSchema: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          minLength: 64,
          maxLength: 64,
          description: 'The id of the artifact: 64 hex digits.',
        },
        offset_bytes: {
          type: 'integer',
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER - LENGTH_MAX * 2,
          description: 'Where the range begins. Default 0.',
        },
        length_bytes: {
          type: 'integer',
          minimum: 1,
          maximum: LENGTH_MAX,
          description: `How long the range is. Default ${LENGTH_DEFAULT}.`,
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    readOnly: true,
    touches: () => [],
    execute: (args) => fetchRange(artifacts, args),
  })
}

async function fetchRange(artifacts: ArtifactStore, args: JsonObject): Promise<ToolResult> {
  const id = requiredText(args, 'id')
  const offset = wholeOf(args, 'offset_bytes') ?? 0
  const length = wholeOf(args, 'length_bytes') ?? LENGTH_DEFAULT
  const from = Math.max(0, offset - AROUND)
  const { bytes, totalBytes } = await artifacts.read(id, from, offset - from + length + AROUND)
  const start = nextBoundary(bytes, offset - from)
  const end = Math.max(start, nextBoundary(bytes, offset - from + length))
  const range = bytes.subarray(start, end)
  return toolResult({
    stdout: range.toString(),
    stderr: isUtf8(range) ? '' : 'what is not UTF-8 is shown as U+FFFD',
    artifacts: [
      {
        id,
        offset_bytes: Math.max(offset, from + start),
        bytes: range.length,
        total_bytes: totalBytes,
        truncated: from + end < totalBytes,
      },
    ],
  })
}
