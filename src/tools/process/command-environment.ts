import { delimiter } from 'node:path'

import { makeHome } from './command-home.ts'
import { searchFolders } from './find-program.ts'

/** Variables by name. */
export type Environment = Readonly<Record<string, string>>

const PATH_DEFAULT = '/usr/local/bin:/usr/bin:/bin'
/** The home of a sandboxed command: empty, and gone with it. */
export const HOME_IN_SANDBOX = '/tmp/home'
const PASSED_ON: readonly string[] = ['LANG', 'LC_ALL', 'TZ']

export interface EnvironmentOptions {
  readonly workspaceRoot: string
  readonly stateFolder: string
  readonly isSandboxed: boolean
  /** What the user adds; wins over the rest. */
  readonly extra: Environment
}

/**
 * Everything a command gets to know of our environment. It is a list of what may pass, not of what may not: a key has
 * any name. Without a sandbox, the home is a folder of ours, which is made here.
 */
export function commandEnvironment(options: EnvironmentOptions): Environment {
  const { workspaceRoot, isSandboxed, extra } = options
  const folders = searchFolders(process.env['PATH'] ?? '', workspaceRoot)
  const passed = PASSED_ON.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    PATH: folders.length === 0 ? PATH_DEFAULT : folders.join(delimiter),
    HOME: isSandboxed ? HOME_IN_SANDBOX : makeHome(options.stateFolder, workspaceRoot),
    TERM: 'dumb',
    ...Object.fromEntries(passed),
    ...extra,
  }
}
