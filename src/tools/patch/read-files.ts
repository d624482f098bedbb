import { lstatSync } from 'node:fs'
import { join } from 'node:path'

import { LoopchartError } from '../../errors.ts'
import type { FileContent, Workspace } from '../workspace/workspace.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'

/** The largest file that a patch may touch. */
export const FILE_BYTES_MAX = 8 * 1024 * 1024

// The old and the new content of every file are in memory at the same time.
const BYTES_TOTAL_MAX = 64 * 1024 * 1024

/**
 * Reads the files that a patch touches; null for one that is not there. Throws `patch_conflict` for a link: written
 * to, it would become a file, and what it leads to would stay as it is.
 */
export async function readFiles(
  workspace: Workspace,
  paths: Iterable<WorkspacePath>,
): Promise<Map<string, FileContent | null>> {
  const contents = new Map<string, FileContent | null>()
  let bytesTotal = 0
  for (const path of paths) {
    const content = await workspace.readIfThere(path, FILE_BYTES_MAX)
    if (isLink(workspace, path)) {
      const message = `${path.path} is a link; patch the file that it leads to`
      throw new LoopchartError('patch_conflict', message)
    }
    bytesTotal += content?.bytes.length ?? 0
    if (bytesTotal > BYTES_TOTAL_MAX) {
      const message = `the files of the patch have more than ${BYTES_TOTAL_MAX} bytes together: split the patch`
      throw new LoopchartError('file_too_large', message)
    }
    contents.set(path.path, content)
  }
  return contents
}

// By path, which is good enough here: what is read and written is verified by the workspace, also where this fails.
function isLink({ root }: Workspace, { names }: WorkspacePath): boolean {
  try {
    return lstatSync(join(root, ...names)).isSymbolicLink()
  } catch {
    return false
  }
}
