import { join } from 'node:path'

import { LoopchartError } from '../../errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { applyPatch } from '../patch/apply-patch.ts'
import { describePatch } from '../patch/describe-patch.ts'
import { parsePatch, PATCH_BYTES_MAX } from '../patch/parse-patch.ts'
import { PatchRecords } from '../patch/patch-records.ts'
import { pathsOf, type PatchSection } from '../patch/patch.ts'
import { resolvePatch, type ResolvedPatch } from '../patch/resolve-patch.ts'
import { tool, type Tool } from '../tool.ts'
import { toolResult } from '../tool-result.ts'
import type { ApprovalNeed } from '../tool-settings.ts'
import type { PathAccess, PathKind } from '../workspace/classify-path.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { requiredText } from './arguments.ts'
import { touchOf, writeNeed } from './path-argument.ts'

export interface ApplyPatchToolOptions {
  readonly workspace: Workspace
  /** loopchart's own folder, absolute and outside the workspace: what a patch is about to do is recorded there. */
  readonly stateFolder: string
  /** Plain files may be changed without asking. */
  readonly isAutoEdit: boolean
}

const DESCRIPTION = String.raw`Change files of the workspace with a patch: add, update, move and delete files. Either all of it is applied or nothing is.

Form, line by line:
*** Begin Patch
*** Add File: docs/notes.md
+Every line of a new file has + in front.
+
*** Update File: src/price.ts
@@ export function total(items: Item[]): number {
   let sum = 0
-  for (const item of items) sum += item.price
+  for (const item of items) sum += item.price * item.count
   return sum
*** Update File: src/old-name.ts
*** Move to: src/new-name.ts
*** Delete File: src/unused.ts
*** End Patch

Paths are relative to the workspace, and each may occur once. An update has one or more hunks, from the top of the file to the bottom. A hunk begins with @@ and has lines with a space (stays), - (goes) or + (comes) in front; give about 3 lines of context before and after a change. The lines that stay or go must be in the file exactly, white space included. If they are there more than once, the patch is refused: add context, or put a whole line of the file that comes before them behind @@ (several @@ lines go from outside to inside, such as a class and then its method). No line numbers. To append, end the hunk with the line *** End of File. The line "\ No newline at end of file" after the last line says that the file ends without a newline.`

/** The tool that changes files by a patch in the Codex form. */
export function applyPatchTool({ workspace, stateFolder, isAutoEdit }: ApplyPatchToolOptions): Tool {
  const records = new PatchRecords(join(stateFolder, 'patches'))
  const resolve = (args: JsonObject): ResolvedPatch =>
    resolvePatch(workspace, parsePatch(requiredText(args, 'patch')))
  return tool({
    name: 'apply_patch',
    description: DESCRIPTION,
    inputSchema: {
      type: 'object',
      properties: {
        patch: {
          type: 'string',
          description: 'The patch, from *** Begin Patch to *** End Patch.',
          minLength: 1,
          maxLength: PATCH_BYTES_MAX,
        },
      },
      required: ['patch'],
      additionalProperties: false,
    },
    idempotent: true,
    scope: workspace.root,
    needsApproval: (args) => approvalFor(() => resolve(args), isAutoEdit),
    preview: (args) => previewOf(requiredText(args, 'patch')),
    touches: async (args) => {
      const touched = resolve(args).sections.flatMap(accessesOf)
      return (await Promise.all(touched.map(([path, access]) => touchOf(workspace, path, access)))).flat()
    },
    conflicts: (args) => [...resolve(args).paths.keys()],
    execute: async (args, { key, signal }) => {
      const patch = parsePatch(requiredText(args, 'patch'))
      const files = await applyPatch({ workspace, records }, patch, { key, signal })
      const lines = resolvePatch(workspace, patch).sections.map(resultOf)
      return toolResult({
        stdout: lines.map((line) => `${line}\n`).join(''),
        artifacts: files.map(({ path, before, after }) => ({ path, before, after })),
      })
    },
  })
}

function approvalFor(resolve: () => ResolvedPatch, isAutoEdit: boolean): boolean | ApprovalNeed {
  try {
    const kinds = new Set([...resolve().paths.values()].map(({ kind }) => kind))
    const strictest = STRICTEST_FIRST.find((kind) => kinds.has(kind)) ?? 'plain'
    return writeNeed(strictest, isAutoEdit)
  } catch (error) {
    // It is refused when it runs; asking somebody about it first would be a waste.
    if (error instanceof LoopchartError) return false
    throw error
  }
}

const STRICTEST_FIRST: readonly PathKind[] = ['secret', 'protected']

function previewOf(text: string): string {
  return describePatch(parsePatch(text), text)
}

// A file that is updated or moved is also read: what does not fit is shown to the model, and a move can carry a
// file to where it may be read.
function accessesOf(section: PatchSection): readonly (readonly [path: string, access: PathAccess])[] {
  const writes = pathsOf(section).map((path) => [path, 'write'] as const)
  return section.kind === 'update' ? [[section.path, 'read'], ...writes] : writes
}

function resultOf(section: PatchSection): string {
  switch (section.kind) {
    case 'add':
      return `A ${section.path}`
    case 'delete':
      return `D ${section.path}`
    case 'update':
      return section.moveTo === null ? `M ${section.path}` : `R ${section.path} -> ${section.moveTo}`
  }
}
