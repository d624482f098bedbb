import { constants } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'

import { LoopchartError } from '../errors.ts'
import { tool, type Tool } from '../tools/tool.ts'
import { z } from './load-zod.ts'

const FILES_MAX = 200
const DEPTH_MAX = 8
const BYTES_MAX = 256 * 1024

// What people keep secrets in, and what is too much to list.
const HIDDEN = /^(?:\..*|node_modules|.*\.pem|.*\.key|id_[a-z0-9]+)$/u

/** A few tools that read a folder and change nothing. Throws `usage` when there is no such folder. */
export async function workspaceTools(workspace: string): Promise<readonly Tool[]> {
  const root = await rootOf(workspace)
  const path = z.string().min(1).max(1000).describe('Relative to the workspace, with / between names.')
  return [
    tool({
      name: 'list_files',
      description: 'List the files of the workspace with their sizes in bytes. Hidden files are left out.',
      inputSchema: z.object({}),
      readOnly: true,
      execute: () => listFiles(root),
    }),
    tool({
      name: 'read_file',
      description: 'Read a text file of the workspace and return what is in it.',
      inputSchema: z.object({ path }),
      readOnly: true,
      execute: (args) => readInside(root, args.path),
    }),
    tool({
      name: 'count_words',
      description: 'Count the lines and words of a text file of the workspace.',
      inputSchema: z.object({ path }),
      readOnly: true,
      execute: async (args) => {
        const text = await readInside(root, args.path)
        const lines = text === '' ? 0 : text.replace(/\n$/u, '').split('\n').length
        return { path: args.path, lines, words: text.split(/\s+/u).filter((word) => word !== '').length }
      },
    }),
  ]
}

async function rootOf(workspace: string): Promise<string> {
  try {
    if ((await stat(workspace)).isDirectory()) return await realpath(workspace)
  } catch (cause) {
    throw new LoopchartError('usage', `there is no folder ${workspace}; give one with --workspace`, { cause })
  }
  throw new LoopchartError('usage', `${workspace} is not a folder; give one with --workspace`)
}

async function listFiles(root: string): Promise<object> {
  const files: { readonly path: string; readonly bytes: number }[] = []
  let isCut = false
  const visit = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (HIDDEN.test(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory() && depth < DEPTH_MAX) await visit(path, depth + 1)
      if (!entry.isFile()) continue
      isCut ||= files.length >= FILES_MAX
      if (isCut) return
      files.push({ path: relative(root, path).replaceAll(sep, '/'), bytes: (await stat(path)).size })
    }
  }
  await visit(root, 0)
  return { files, isCut }
}

async function readInside(root: string, path: string): Promise<string> {
  if (
    path.includes('\0') ||
    isAbsolute(path) ||
    path.split(/[\\/]/u).some((name) => name !== '.' && HIDDEN.test(name))
  ) {
    throw new Error('the path is outside of the workspace, or hidden')
  }
  // Opened first and looked at then: what a name leads to may change in between. Without NONBLOCK a pipe would wait.
  const file = await open(join(root, path), constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const facts = await file.stat()
    const really = await realpath(join(root, path))
    const isSame = facts.ino === (await stat(really)).ino
    if (!isSame || !isInside(root, really)) throw new Error('the path is outside of the workspace')
    if (!facts.isFile()) throw new Error('it is not a regular file')
    if (facts.size > BYTES_MAX) throw new Error(`it has ${facts.size} bytes, at most ${BYTES_MAX} are read`)
    const bytes = await file.readFile()
    if (bytes.includes(0)) throw new Error('it is not a text file')
    return bytes.toString('utf8')
  } finally {
    await file.close()
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
