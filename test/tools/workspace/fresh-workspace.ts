import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { onTestFinished } from 'vitest'

import { openWorkspace, type Workspace } from '../../../src/tools/workspace/workspace.ts'

export interface FreshWorkspace {
  /** The folder around the workspace. */
  readonly base: string
  readonly root: string
  readonly workspace: Workspace
}

/** A folder that is gone when the test is over. */
export function freshFolder(parent = tmpdir()): string {
  const base = realpathSync(mkdtempSync(join(parent, 'loopchart-ws-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  return base
}

/** A workspace `ws` with these files, in a folder of its own. */
export async function freshWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  parent?: string,
): Promise<FreshWorkspace> {
  const base = freshFolder(parent)
  const root = join(base, 'ws')
  mkdirSync(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return { base, root, workspace: await openWorkspace(root) }
}

/** How an attempt ended: what it gave, or the code of its error. */
export async function endOf(attempt: () => unknown): Promise<unknown> {
  try {
    return await attempt()
  } catch (error) {
    return (error as { readonly code: string }).code
  }
}
