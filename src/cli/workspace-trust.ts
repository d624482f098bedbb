import { realpath, stat } from 'node:fs/promises'

import { LoopchartError } from '../errors.ts'
import { shellWord } from './shell-word.ts'
import { readTrust } from './trust-store.ts'
import {
  parseWorkspaceConfig,
  readWorkspaceConfig,
  WORKSPACE_CONFIG,
  type WorkspaceConfig,
} from './workspace-config.ts'

/** Whether a workspace is trusted, and what of its own config counts. */
export interface WorkspaceTrust {
  /** The real absolute path. */
  readonly root: string
  readonly isTrusted: boolean
  /** Empty unless the workspace is trusted and so is this very content. */
  readonly config: WorkspaceConfig
  /** What the user should know, in whole lines. */
  readonly notes: readonly string[]
}

export interface TrustQuestion {
  readonly workspace: string
  readonly stateFolder: string
  /** The user said so for this run: that is about the folder, not about a config that nobody has looked at. */
  readonly isTrustedForNow: boolean
}

/** Finds out about a workspace. Throws `usage` when there is no such folder, `config_invalid` for a bad file. */
export async function workspaceTrust(question: TrustQuestion): Promise<WorkspaceTrust> {
  const { workspace, stateFolder, isTrustedForNow } = question
  const root = await realFolder(workspace)
  const recorded = (await readTrust(stateFolder)).find(({ path }) => path === root)
  if (recorded === undefined && !isTrustedForNow) {
    // What is in an untrusted folder is not looked at either: it could be anything.
    const note =
      `${root} is not trusted: the model gets only tools that read; ` +
      `to let it write files and run commands there, run loopchart trust ${shellWord(workspace)}, or add --trust for this run`
    return { root, isTrusted: false, config: {}, notes: [note] }
  }
  const file = await readWorkspaceConfig(root)
  if (file === null) return { root, isTrusted: true, config: {}, notes: [] }
  if (file.hash === recorded?.configHash) {
    return { root, isTrusted: true, config: parseWorkspaceConfig(file), notes: [] }
  }
  const why = recorded?.configHash == null ? 'has not been looked at' : 'has changed since it was trusted'
  const note = `${WORKSPACE_CONFIG} of the workspace ${why} and is not used; to use it, run loopchart trust ${shellWord(workspace)}`
  return { root, isTrusted: true, config: {}, notes: [note] }
}

/** The real path of a folder. Throws `usage` when there is none. */
export async function realFolder(workspace: string): Promise<string> {
  try {
    const real = await realpath(workspace)
    if (!(await stat(real)).isDirectory()) throw new Error('it is a file')
    return real
  } catch (cause) {
    throw new LoopchartError('usage', `there is no folder ${workspace} to work in`, { cause })
  }
}
