import { isUtf8 } from 'node:buffer'
import { readdir } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { LoopchartError } from '../../errors.ts'
import type { WorkspacePath } from '../workspace/workspace-path.ts'
import { HitList, isSearchableLine, LINE_BYTES_MAX } from './hit-list.ts'
import {
  assertWanted,
  BINARY_CHECK_BYTES,
  FILE_BYTES_MAX,
  isPassedOver,
  pathBelow,
  searchableFile,
  type SearchRequest,
} from './search-request.ts'

const NEWLINE = 0x0a
// The longest line that counts, with its newline.
const BLOCK_BYTES = LINE_BYTES_MAX + 1
// Other work of the process waits no longer than this, and one line more.
const TURN_MS = 10

interface Matcher {
  readonly isMatch: (line: string) => boolean
  /** Whether a line of several can match. */
  readonly isAnywhere: (lines: string) => boolean
}

/**
 * Searches with RE2 in this process, in time that grows with the text and not with what the pattern makes of it.
 * Throws `search_failed` when too much is found, `tool_cancelled` on abort.
 */
export async function searchWithRe2(request: SearchRequest): Promise<HitList> {
  const matcher = await compile(request.pattern.re2)
  const hits = new HitList()
  const turns = new Turns(request.signal)
  const folders: string[] = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(request, folder)) {
      await turns.rest()
      const rest = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isFolder) {
        folders.push(rest)
        continue
      }
      const file = searchableFile(request, rest)
      const bytes = file === null ? null : await passingOver(request.workspace.readFile(file, FILE_BYTES_MAX))
      if (file !== null && bytes !== null) await searchBytes(bytes.bytes, file.path, matcher, hits, turns)
    }
  }
  return hits
}

/** Searches a single file, which is read whatever its name is. Throws when it cannot be read. */
export async function searchFileWithRe2(request: SearchRequest): Promise<HitList> {
  const { workspace, root, pattern, isIncluded, signal } = request
  const hits = new HitList()
  const { bytes } = await workspace.readFile(root, FILE_BYTES_MAX)
  if (!isIncluded(root.names.at(-1) ?? '')) return hits
  await searchBytes(bytes, root.path, await compile(pattern.re2), hits, new Turns(signal))
  return hits
}

async function compile(pattern: string): Promise<Matcher> {
  const { RE2JS } = await import('re2js')
  const line = RE2JS.compile(pattern)
  const block = RE2JS.compile(pattern, RE2JS.MULTILINE)
  return {
    isMatch: (text) => line.test(text),
    isAnywhere: (text) => text.length <= BLOCK_BYTES && block.test(text),
  }
}

interface Entry {
  readonly name: string
  readonly isFolder: boolean
}

/** Files and folders, no links and no devices. */
async function entriesOf(request: SearchRequest, folder: string): Promise<readonly Entry[]> {
  const { workspace, root } = request
  const list = (place: WorkspacePath): Promise<readonly Entry[]> =>
    workspace.withFolder(place, async (held) => {
      const found = await readdir(held, { withFileTypes: true, encoding: 'buffer' })
      return found
        .filter((entry) => isUtf8(entry.name) && (entry.isFile() || entry.isDirectory()))
        .map((entry) => ({ name: entry.name.toString(), isFolder: entry.isDirectory() }))
        .filter(({ name }) => !isPassedOver(name))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    })
  if (folder === '') return list(root)
  // A name that no tool takes makes everything below it unreachable, as it does for the files themselves.
  const place = searchableFolder(request, pathBelow(root, folder))
  return place === null ? [] : ((await passingOver(list(place))) ?? [])
}

function searchableFolder({ workspace }: SearchRequest, path: string): WorkspacePath | null {
  try {
    // By what is in it: a folder id_generator is no private key, though a file of that name may be one.
    const isSecret = workspace.parse(`${path}/x`).kind === 'secret'
    return isSecret ? null : workspace.parse(path)
  } catch {
    return null
  }
}

/** What cannot be read is passed over, unless there is nothing to read from any more. */
async function passingOver<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof LoopchartError && error.code !== 'workspace_missing') return null
    throw error
  }
}

async function searchBytes(
  bytes: Buffer,
  path: string,
  matcher: Matcher,
  hits: HitList,
  turns: Turns,
): Promise<void> {
  if (bytes.subarray(0, BINARY_CHECK_BYTES).includes(0)) return
  let line = 1
  for (let at = 0; at < bytes.length;) {
    const end = blockEnd(bytes, at)
    const block = bytes.subarray(at, end)
    // Most blocks have no match at all, and one look at the whole is far cheaper than one at each line.
    const isHopeless = isUtf8(block) && !matcher.isAnywhere(block.toString())
    for (let from = 0; from < block.length; line += 1) {
      const newline = block.indexOf(NEWLINE, from)
      const to = newline < 0 ? block.length : newline
      const text = block.subarray(from, to)
      from = to + 1
      if (isHopeless) continue
      if (isSearchableLine(text) && matcher.isMatch(text.toString())) {
        hits.add(path, { line, bytes: Buffer.from(text) })
      }
      if (turns.isOver) await turns.rest()
    }
    at = end
    await turns.rest()
  }
}

/** After the last whole line that fits, or after the first one when it is longer than a block. */
function blockEnd(bytes: Buffer, at: number): number {
  if (bytes.length - at <= BLOCK_BYTES) return bytes.length
  const last = bytes.lastIndexOf(NEWLINE, at + BLOCK_BYTES - 1)
  const newline = last >= at ? last : bytes.indexOf(NEWLINE, at)
  return newline < 0 ? bytes.length : newline + 1
}

/** Lets other work of the process have its turn. */
class Turns {
  readonly #signal: AbortSignal
  #since = performance.now()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  get isOver(): boolean {
    return performance.now() - this.#since > TURN_MS
  }

  /** Throws `tool_cancelled` when the search is not wanted any more. */
  async rest(): Promise<void> {
    assertWanted(this.#signal)
    if (!this.isOver) return
    await nextTurn()
    this.#since = performance.now()
    assertWanted(this.#signal)
  }
}
