import { LoopchartError } from '../../errors.ts'
import { findRipgrep } from './find-ripgrep.ts'
import type { HitList } from './hit-list.ts'
import type { SearchRequest } from './search-request.ts'
import { searchFileWithRe2, searchWithRe2 } from './search-with-re2.ts'
import { searchWithRipgrep } from './search-with-ripgrep.ts'

/** `auto`: ripgrep when there is one. */
export type SearchEngine = 'auto' | 're2js'

/**
 * Finds the lines that match, in a folder or a file. Which engine does it makes no difference to what is found.
 * `nameGlob` is a glob that every wanted file fits, for an engine that can save work with it.
 */
export async function search(
  request: SearchRequest,
  nameGlob: string | null,
  engine: SearchEngine,
): Promise<HitList> {
  const { workspace, root } = request
  let isFolder = false
  try {
    const found = await workspace.withFolder(root, async (folder) => {
      isFolder = true
      const program = engine === 'auto' ? await findRipgrep(workspace.root) : null
      return program === null ? null : searchWithRipgrep(program, folder, request, nameGlob)
    })
    return found ?? (await searchWithRe2(request))
  } catch (error) {
    const isFile = !isFolder && error instanceof LoopchartError && error.code === 'path_not_found'
    if (!isFile) throw error
  }
  // One file is opened by us, never by ripgrep: it would follow a link that is named.
  return searchFileWithRe2(request)
}
