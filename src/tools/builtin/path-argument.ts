import type { ApprovalNeed, Touch } from '../tool-settings.ts'
import type { PathAccess, PathKind } from '../workspace/classify-path.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'

/** How a path argument is declared to the model. */
export function pathSchema(description: string): { type: 'string'; maxLength: number; description: string } {
  return { type: 'string', maxLength: 4096, description }
}

/** How much of a path is used: without more, only what is at the path itself. */
type TouchReach = Pick<Extract<Touch, { readonly kind: 'path' }>, 'isTree' | 'isListing'>

/**
 * What a call that uses one path touches: the path, and the place that it leads to through links, when that is another
 * one. Throws when it is no path.
 */
export async function touchOf(
  workspace: Workspace,
  path: string,
  access: PathAccess,
  reach: TouchReach = {},
): Promise<readonly Touch[]> {
  const given = workspace.parse(path, access)
  const real = await workspace.realPathOf(given, access)
  const paths = real === null || real === given.path ? [given.path] : [given.path, real]
  return paths.map((one) => ({ kind: 'path', path: one, access, ...reach }))
}

/** What a call that looks into a folder and all below it touches. Throws when it is no path. */
export function treeOf(workspace: Workspace, path: string): Promise<readonly Touch[]> {
  return touchOf(workspace, path, 'read', { isTree: true })
}

/** The path, or null when it is none: the call is then refused where it would run, and nobody need be asked. */
export function parseOrNull(workspace: Workspace, path: string, access: PathAccess): WorkspacePath | null {
  try {
    return workspace.parse(path, access)
  } catch {
    return null
  }
}

/** Whether reading takes a person's word. */
export function readNeed(kind: PathKind): ApprovalNeed | false {
  return kind === 'secret' ? { reason: 'secret_file', isEachTime: true } : false
}

/** Whether writing takes a person's word. */
export function writeNeed(kind: PathKind, isAutoEdit: boolean): ApprovalNeed | false {
  if (kind === 'secret') return { reason: 'secret_file', isEachTime: true }
  if (kind === 'protected') return { reason: 'protected_file', isEachTime: true }
  return isAutoEdit ? false : { reason: 'write', isEachTime: false }
}
