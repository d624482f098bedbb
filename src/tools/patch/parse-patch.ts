/**
 * Patches: the text of a model becomes a change of several files that is made as a whole or not at all. This
 * folder reads the text, finds the place of each hunk, and carries the change out so that a crash leaves
 * something that the same call can finish.
 */
import { LoopchartError } from '../../errors.ts'
import { quoted } from '../quoted.ts'
import { checkPatchPaths } from './check-patch-paths.ts'
import { parseHunks } from './parse-hunks.ts'
import type { AddSection, Patch, PatchSection, UpdateSection } from './patch.ts'
import { expected, PatchReader } from './patch-reader.ts'

/** The longest patch, in bytes of UTF-8. */
export const PATCH_BYTES_MAX = 1024 * 1024

const FILES_MAX = 100
const HUNKS_MAX = 10_000

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'
const ADD = '*** Add File: '
const DELETE = '*** Delete File: '
const UPDATE = '*** Update File: '
const MOVE = '*** Move to: '

/**
 * Reads a patch. Blank lines around it are let pass; anything else that is not in the exact form is
 * `patch_invalid` with the number of the line and what should stand there.
 */
export function parsePatch(text: string): Patch {
  checkText(text)
  const reader = new PatchReader(text)
  reader.skipBlank()
  if (reader.peek() !== BEGIN) throw expected(reader, BEGIN)
  reader.take()
  const sections = parseSections(reader)
  reader.take()
  reader.skipBlank()
  if (reader.peek() !== null) throw expected(reader, `nothing after ${END}`)
  checkPatchPaths(sections)
  return { sections }
}

function checkText(text: string): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > PATCH_BYTES_MAX) {
    const message = `the patch has ${bytes} bytes, at most ${PATCH_BYTES_MAX} are allowed: split it`
    throw new LoopchartError('patch_invalid', message)
  }
  if (!text.isWellFormed()) {
    throw new LoopchartError(
      'patch_invalid',
      'the patch holds half of a surrogate pair, which no file can hold',
    )
  }
}

function parseSections(reader: PatchReader): readonly PatchSection[] {
  const sections: PatchSection[] = []
  let hunks = 0
  while (reader.peek() !== END) {
    if (sections.length === FILES_MAX)
      throw reader.invalid(`the patch has more than ${FILES_MAX} files: split it`)
    const section = parseSection(reader)
    sections.push(section)
    hunks += section.kind === 'update' ? section.hunks.length : 0
    if (hunks > HUNKS_MAX) throw reader.invalid(`the patch has more than ${HUNKS_MAX} hunks: split it`)
  }
  if (sections.length === 0) throw expected(reader, `a section such as ${UPDATE}path`)
  return sections
}

function parseSection(reader: PatchReader): PatchSection {
  const { line } = reader
  const added = takePath(reader, ADD)
  if (added !== null) return parseAdd(reader, added, line)
  const deleted = takePath(reader, DELETE)
  if (deleted !== null) return { kind: 'delete', path: deleted, line }
  const updated = takePath(reader, UPDATE)
  if (updated !== null) return parseUpdate(reader, updated, line)
  throw expected(reader, `${ADD}path, ${DELETE}path, ${UPDATE}path or ${END}`)
}

function takePath(reader: PatchReader, marker: string): string | null {
  const text = reader.peek()
  // The marker of a path that was forgotten may have lost its space too.
  if (text === null || !`${text} `.startsWith(marker)) return null
  const path = text.slice(marker.length)
  if (path.trim() === '') throw expected(reader, `a path after ${marker.trim()}`)
  reader.take()
  return path
}

function parseAdd(reader: PatchReader, path: string, line: number): AddSection {
  let text = ''
  for (let next = reader.peek(); next !== null && !next.startsWith('*** '); next = reader.peek()) {
    if (!next.startsWith('+')) {
      throw expected(reader, 'a line of the new file with + in front (for an empty line: + alone)')
    }
    text += `${next.slice(1)}${reader.lineEnd()}`
    reader.take()
    if (reader.takeNoNewline()) {
      text = text.replace(/\r?\n$/, '')
      break
    }
  }
  return { kind: 'add', path, text, line }
}

function parseUpdate(reader: PatchReader, path: string, line: number): UpdateSection {
  const moveTo = takePath(reader, MOVE)
  const hunks = parseHunks(reader)
  if (hunks.length === 0 && moveTo === null)
    throw expected(reader, `a hunk that changes ${quoted(path)}, or ${MOVE}path`)
  return { kind: 'update', path, moveTo, hunks, line }
}
