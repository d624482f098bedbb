import { LoopchartError } from '../../errors.ts'
import type { FileContent } from '../workspace/workspace.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'
import { applyHunks } from './apply-hunks.ts'
import type { PatchSection, UpdateSection } from './patch.ts'
import type { ResolvedPatch } from './resolve-patch.ts'

/** One file before and after a patch; null: it is not there. */
export interface FileChange {
  readonly path: WorkspacePath
  readonly before: FileContent | null
  readonly after: NewContent | null
}

export interface NewContent {
  readonly bytes: Buffer
  /** Null: that of the file before, or of any new file. */
  readonly mode: number | null
}

/** What files hold, by their paths. */
export type FileContents = ReadonlyMap<string, FileContent | null>

/**
 * Computes what each file becomes, in the order in which the changes are to be made: the target of a move before its
 * source goes away. Throws `patch_conflict` when a file is not as the patch expects.
 */
export function planChanges(
  { sections, paths }: ResolvedPatch,
  contents: FileContents,
): readonly FileChange[] {
  const changeOf = (name: string, after: NewContent | null): FileChange => {
    const path = paths.get(name)
    if (path === undefined) throw new TypeError(`${name} is not a path of the patch`)
    return { path, before: contents.get(name) ?? null, after }
  }
  return sections.flatMap((section) => planSection(section, contents, changeOf))
}

function planSection(
  section: PatchSection,
  contents: FileContents,
  changeOf: (name: string, after: NewContent | null) => FileChange,
): readonly FileChange[] {
  const { path } = section
  const old = contents.get(path) ?? null
  if (section.kind === 'add') {
    if (old !== null) throw conflict(section, 'cannot be added, it is there already; use *** Update File')
    return [changeOf(path, { bytes: Buffer.from(section.text), mode: null })]
  }
  if (old === null) throw conflict(section, 'is not there; look with list_dir or glob')
  if (section.kind === 'delete') return [changeOf(path, null)]
  const bytes = newBytes(section, old)
  if (section.moveTo === null) return [changeOf(path, { bytes, mode: null })]
  if ((contents.get(section.moveTo) ?? null) !== null) {
    throw conflict(section, `cannot be moved to ${section.moveTo}, which is there already`)
  }
  return [changeOf(section.moveTo, { bytes, mode: old.mode }), changeOf(path, null)]
}

function newBytes(section: UpdateSection, { bytes }: FileContent): Buffer {
  // A file that is only moved may hold anything.
  if (section.hunks.length === 0) return bytes
  return Buffer.from(applyHunks(section.path, textOf(section, bytes), section.hunks))
}

function textOf(section: UpdateSection, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw conflict(section, 'is not a text file: it is not valid UTF-8', cause)
  }
}

function conflict({ path, line }: PatchSection, reason: string, cause?: unknown): LoopchartError {
  return new LoopchartError('patch_conflict', `${path} (patch line ${line}) ${reason}`, { cause })
}
