import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { LoopchartError } from '../../errors.ts'
import { defaultStateFolder } from '../../state-folder.ts'
import { openArtifacts } from '../artifacts/artifact-store.ts'
import { clearLeftovers } from '../process/clear-leftovers.ts'
import { isWithin } from '../process/find-program.ts'
import type { Tool } from '../tool.ts'
import { openWorkspace } from '../workspace/workspace.ts'
import { applyPatchTool } from './apply-patch.ts'
import { artifactFetchTool } from './artifact-fetch.ts'
import { checkBuiltinOptions } from './check-builtin-options.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { listDirTool } from './list-dir.ts'
import { readFileTool } from './read-file.ts'
import { shellTool, type ShellOptions } from './shell.ts'
import { writeFileTool } from './write-file.ts'

export interface BuiltinOptions {
  /** The folder that the tools work in, and do not leave. */
  readonly workspace: string
  /**
   * Where outputs that are too long for a model are kept, and records of what is under way; a folder outside of the
   * workspace. Without it, `$XDG_STATE_HOME/loopchart` or `~/.local/state/loopchart`.
   */
  readonly stateFolder?: string
  /** Files that are nothing special are changed without asking. */
  readonly isAutoEdit?: boolean
  readonly shell?: Partial<ShellOptions>
}

/**
 * Tools for work in a folder: read, write and patch files, list and search them, run commands. Before they are there,
 * what commands left running whose loopchart was killed is ended. Throws `tool_invalid` when an option is none, and
 * `usage` when the workspace is no folder, or holds the state folder.
 */
export async function builtinTools(options: BuiltinOptions): Promise<readonly Tool[]> {
  checkBuiltinOptions(options)
  const { isAutoEdit = false, shell = {} } = options
  const workspace = await openWorkspace(options.workspace)
  const stateFolder = await stateFolderOf(options, workspace.root)
  await clearLeftovers(stateFolder)
  const artifacts = openArtifacts(join(stateFolder, 'artifacts'))
  return [
    readFileTool({ workspace, artifacts }),
    listDirTool({ workspace }),
    globTool({ workspace }),
    grepTool({ workspace, artifacts }),
    artifactFetchTool({ artifacts }),
    writeFileTool({ workspace, isAutoEdit }),
    applyPatchTool({ workspace, stateFolder, isAutoEdit }),
    await shellTool({
      workspace,
      artifacts,
      stateFolder,
      shell: { ...shell, sandbox: shell.sandbox ?? 'auto' },
    }),
  ]
}

// A model that can write to the records of its own run could forge them.
async function stateFolderOf({ stateFolder }: BuiltinOptions, root: string): Promise<string> {
  const real = await realPlace(resolve(stateFolder ?? defaultStateFolder(process.env)))
  if (!isWithin(root, real)) {
    await mkdir(real, { recursive: true, mode: 0o700 })
    return real
  }
  throw new LoopchartError(
    'usage',
    `the state folder ${real} is inside of the workspace ${root}, where tools could change it; give another stateFolder`,
  )
}

/** Where a path leads without links, also when its end is not there yet. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(await realPlace(parent), basename(path))
  }
}
