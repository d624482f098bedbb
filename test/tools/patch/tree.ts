import { hash } from 'node:crypto'
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { onTestFinished } from 'vitest'

/** A fresh folder with files in it, gone after the test. */
export async function makeTree(files: Readonly<Record<string, string | Uint8Array | null>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'loopchart-patch-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    if (content === null) continue
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
    await chmod(join(root, path), 0o644)
  }
  return root
}

/** Everything below a folder: the mode and the text of each file, `folder` for a folder. */
export async function readTree(root: string): Promise<Record<string, string>> {
  const entries: [string, string][] = []
  for (const path of (await readdir(root, { recursive: true })).toSorted()) {
    const facts = await lstat(join(root, path))
    const mode = (facts.mode & 0o777).toString(8)
    const text = facts.isFile() ? await readFile(join(root, path), 'utf8') : null
    entries.push([path, text === null ? 'folder' : `${mode} ${text}`])
  }
  return Object.fromEntries(entries)
}

/** One hash for every byte, name and mode below a folder. */
export async function hashTree(root: string): Promise<string> {
  const parts: string[] = []
  for (const path of (await readdir(root, { recursive: true })).toSorted()) {
    const facts = await lstat(join(root, path))
    const content = facts.isFile() ? hash('sha256', await readFile(join(root, path))) : 'none'
    parts.push(`${path} ${facts.mode} ${content}`)
  }
  return hash('sha256', parts.join('\n'))
}
