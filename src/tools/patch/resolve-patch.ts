import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'
import { checkPatchPaths } from './check-patch-paths.ts'
import { pathsOf, type Patch, type PatchSection } from './patch.ts'

/** A patch whose paths are those of a workspace. */
export interface ResolvedPatch {
  /** With every path in its one spelling. */
  readonly sections: readonly PatchSection[]
  /** By that spelling, in the order of the patch, the source of a move before its target. */
  readonly paths: ReadonlyMap<string, WorkspacePath>
}

/**
 * Reads the paths of a patch. Throws `path_outside_workspace` for one that is not of the workspace, and
 * `patch_invalid` when two of them are the same one spelled differently.
 */
export function resolvePatch(workspace: Workspace, patch: Patch): ResolvedPatch {
  const spell = (path: string): string => workspace.parse(path, 'write').path
  const sections = patch.sections.map((section): PatchSection => {
    if (section.kind !== 'update') return { ...section, path: spell(section.path) }
    const moveTo = section.moveTo === null ? null : spell(section.moveTo)
    return { ...section, path: spell(section.path), moveTo }
  })
  checkPatchPaths(sections)
  const paths = sections.flatMap(pathsOf).map((path) => workspace.parse(path, 'write'))
  return { sections, paths: new Map(paths.map((path) => [path.path, path])) }
}
