import { LoopchartError } from '../../errors.ts'
import type { FileContent, Workspace } from '../workspace/workspace.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'
import type { FileChange, NewContent } from './plan-changes.ts'
import { FILE_BYTES_MAX } from './read-files.ts'

/**
 * Makes the changes, each file as a whole. A file that is already as after its change is left alone. When one cannot
 * be changed, those before it are put back as far as that is possible, folders that were made for them are removed,
 * and the error is thrown on: what the files are then must be looked up.
 */
export async function carryOut(workspace: Workspace, changes: readonly FileChange[]): Promise<void> {
  const tried: FileChange[] = []
  const made: string[] = []
  try {
    for (const change of changes) {
      // Looked at once more: while others were changed somebody may have written to it, and another path of the patch
      // may lead to the same file.
      const current = changes.length === 1 ? change.before : await currentOf(workspace, change)
      if (isSame(current, change.after)) continue
      if (!isSame(current, change.before)) throw changedMeanwhile(change)
      tried.push(change)
      await write(workspace, change.path, change.after, (folder) => made.push(folder))
    }
  } catch (error) {
    for (const change of tried.toReversed()) await putBack(workspace, change)
    for (const folder of made.toReversed()) await removeIfEmpty(workspace, folder)
    throw error
  }
}

function currentOf(workspace: Workspace, { path }: FileChange): Promise<FileContent | null> {
  return workspace.readIfThere(path, FILE_BYTES_MAX)
}

function isSame(one: NewContent | null, other: NewContent | null): boolean {
  return one === null || other === null ? one === other : one.bytes.equals(other.bytes)
}

function changedMeanwhile({ path }: FileChange): LoopchartError {
  return new LoopchartError('patch_conflict', `${path.path} was changed while the patch was made`)
}

async function write(
  workspace: Workspace,
  path: WorkspacePath,
  content: NewContent | null,
  onFolderMade: (folder: string) => void,
): Promise<void> {
  if (content === null) {
    await workspace.removeFile(path)
    return
  }
  const mode = content.mode === null ? {} : { mode: content.mode }
  await workspace.replaceFile(path, content.bytes, { ...mode, onFolderMade })
}

async function putBack(workspace: Workspace, change: FileChange): Promise<void> {
  try {
    const current = await currentOf(workspace, change)
    if (isSame(current, change.after)) await write(workspace, change.path, change.before, () => undefined)
  } catch {
    // Nothing more can be done about this one; whoever asks what the files are now will see it.
  }
}

async function removeIfEmpty(workspace: Workspace, folder: string): Promise<void> {
  try {
    await workspace.removeEmptyFolder(workspace.parse(folder, 'write'))
  } catch {
    // Somebody has put something into it, or has removed it: then it is theirs.
  }
}
