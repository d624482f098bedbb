import { LoopchartError } from '../../errors.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { TranslatedPattern } from './translate-pattern.ts'

/** A file larger than this is not searched. */
export const FILE_BYTES_MAX = 4 * 1024 * 1024

/** A file with a NUL byte among its first ones is no text. */
export const BINARY_CHECK_BYTES = 8 * 1024

/** What both engines are asked. */
export interface SearchRequest {
  readonly workspace: Workspace
  /** The folder to search. */
  readonly root: WorkspacePath
  readonly pattern: TranslatedPattern
  /** Whether a file is wanted, by its path below the root. */
  readonly isIncluded: (rest: string) => boolean
  readonly signal: AbortSignal
}

/** The path in the workspace of something below the root of a search. */
export function pathBelow(root: WorkspacePath, rest: string): string {
  return root.names.length === 0 ? rest : `${root.path}/${rest}`
}

/** Whether a name below the root of a search is passed over with all that is in it. */
export function isPassedOver(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

/**
 * The file at that path below the root if it is to be searched, else null: secret files never are, and neither are
 * those whose names no other tool would take.
 */
export function searchableFile(request: SearchRequest, rest: string): WorkspacePath | null {
  if (!request.isIncluded(rest)) return null
  try {
    const file = request.workspace.parse(pathBelow(request.root, rest))
    return file.kind === 'secret' ? null : file
  } catch (error) {
    if (error instanceof LoopchartError) return null
    throw error
  }
}

/** Throws `tool_cancelled` once nobody waits for the search any more. */
export function assertWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new LoopchartError('tool_cancelled', 'the search was cancelled')
}
