import { LoopchartError } from '../../errors.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { FileHits, Hit } from './hit-list.ts'
import { assertWanted, FILE_BYTES_MAX } from './search-request.ts'

const NEWLINE = 0x0a
const RETURN = 0x0d
const LENGTH_MAX = 500
const BYTES_A_CHARACTER_MAX = 4
const FILES_AT_ONCE = 8

export interface RenderOptions {
  /** How many lines around each hit are shown. */
  readonly contextLines: number
  readonly hitsMax: number
  readonly signal: AbortSignal
}

/**
 * The lines of the first hits, as grep writes them. The files are read again, in the way that looks where a path led: an engine that
 * walked over a link while it was swapped has found lines from elsewhere, and those are in no file that is found here.
 */
export async function renderHits(
  workspace: Workspace,
  files: readonly FileHits[],
  { contextLines, hitsMax, signal }: RenderOptions,
): Promise<readonly string[]> {
  const shown = firstHits(files, hitsMax)
  const blocks: string[] = []
  for (let at = 0; at < shown.length; at += FILES_AT_ONCE) {
    assertWanted(signal)
    const some = shown.slice(at, at + FILES_AT_ONCE)
    const groups = await Promise.all(some.map((file) => renderFile(workspace, file, contextLines)))
    blocks.push(...groups.flat())
  }
  return contextLines === 0
    ? blocks
    : blocks.flatMap((block, index) => (index === 0 ? [block] : ['--', block]))
}

function firstHits(files: readonly FileHits[], hitsMax: number): readonly FileHits[] {
  const first: FileHits[] = []
  let left = hitsMax
  for (const { path, hits } of files) {
    if (left === 0) break
    first.push({ path, hits: hits.slice(0, left) })
    left -= Math.min(left, hits.length)
  }
  return first
}

/** One text for each group of lines without a gap. */
async function renderFile(
  workspace: Workspace,
  { path, hits }: FileHits,
  contextLines: number,
): Promise<readonly string[]> {
  const bytes = await readAgain(workspace, path)
  if (bytes === null) return []
  const lines = linesOf(bytes, (hits.at(-1)?.line ?? 0) + contextLines)
  const matching = new Set(hits.filter((hit) => isStillThere(lines, hit)).map(({ line }) => line))
  const shown = withContext(matching, contextLines, lines.length)
  const groups: string[][] = []
  for (const [index, number] of shown.entries()) {
    if (index === 0 || shown[index - 1] !== number - 1) groups.push([])
    const mark = matching.has(number) ? ':' : '-'
    groups.at(-1)?.push(`${path}${mark}${number}${mark}${lineText(lines[number - 1] ?? Buffer.alloc(0))}`)
  }
  return contextLines === 0 ? groups.flat() : groups.map((group) => group.join('\n'))
}

/** Null when it is gone, or not what it was. */
async function readAgain(workspace: Workspace, path: string): Promise<Buffer | null> {
  try {
    return (await workspace.readFile(workspace.parse(path), FILE_BYTES_MAX)).bytes
  } catch (error) {
    if (error instanceof LoopchartError && error.code !== 'workspace_missing') return null
    throw error
  }
}

function linesOf(bytes: Buffer, countMax: number): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length && lines.length < countMax;) {
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline < 0 ? bytes.length : newline
    lines.push(bytes.subarray(at, end))
    at = end + 1
  }
  return lines
}

function isStillThere(lines: readonly Buffer[], { line, bytes }: Hit): boolean {
  return lines[line - 1]?.equals(bytes) === true
}

/** The numbers of the lines to show, in order. */
function withContext(matching: ReadonlySet<number>, contextLines: number, last: number): readonly number[] {
  const numbers = new Set<number>()
  for (const line of matching) {
    const to = Math.min(last, line + contextLines)
    for (let number = Math.max(1, line - contextLines); number <= to; number += 1) numbers.add(number)
  }
  return [...numbers].sort((a, b) => a - b)
}

/** Without the \r before its \n. What is not UTF-8, which only a line of the context can have, is U+FFFD. */
function lineText(line: Buffer): string {
  const bytes = line.at(-1) === RETURN ? line.subarray(0, -1) : line
  // One character more than is shown tells that there is more.
  const characters = Array.from(bytes.toString('utf8', 0, (LENGTH_MAX + 1) * BYTES_A_CHARACTER_MAX))
  const isCut = characters.length > LENGTH_MAX
  return isCut ? `${characters.slice(0, LENGTH_MAX).join('')} [line cut]` : characters.join('')
}
