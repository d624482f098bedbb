import type { LineEnd } from './text-lines.ts'

/** A patch in the form of the Codex envelope, read but not yet compared with any file. */
export interface Patch {
  /** In the order of the text. No path occurs twice, and none lies inside another. */
  readonly sections: readonly PatchSection[]
}

export type PatchSection = AddSection | DeleteSection | UpdateSection

export interface AddSection {
  readonly kind: 'add'
  readonly path: string
  /** The whole new file, with the line ends that the patch has. */
  readonly text: string
  /** Where the section begins in the text of the patch, from 1. */
  readonly line: number
}

interface DeleteSection {
  readonly kind: 'delete'
  readonly path: string
  readonly line: number
}

export interface UpdateSection {
  readonly kind: 'update'
  readonly path: string
  /** The new path of the file; null when it stays. */
  readonly moveTo: string | null
  /** At least one, unless the file is moved. */
  readonly hunks: readonly Hunk[]
  readonly line: number
}

/** One change of a file: lines that must be there, and what becomes of them. */
export interface Hunk {
  /** Where it begins in the text of the patch, from 1. */
  readonly line: number
  /** Whole lines of the file that come before it, one after the other: what stands behind `@@`. */
  readonly headers: readonly string[]
  readonly lines: readonly HunkLine[]
  /** Its old lines are the last ones of the file. */
  readonly isAtEnd: boolean
  /** What it says about the newline at the end of the file; null: nothing, so that stays as it is. */
  readonly finalNewline: { readonly old: boolean; readonly new: boolean } | null
}

export interface HunkLine {
  readonly kind: 'context' | 'remove' | 'add'
  /** Without the mark in front and without a line end. */
  readonly text: string
  /** How the line ends in the patch. It counts only where a file does not tell how its lines end. */
  readonly end: LineEnd
}

/** The paths that a section is about, the source of a move first. */
export function pathsOf(section: PatchSection): readonly string[] {
  if (section.kind !== 'update' || section.moveTo === null) return [section.path]
  return [section.path, section.moveTo]
}
