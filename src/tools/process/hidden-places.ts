import { lstatSync, realpathSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { isWithin, searchFolders } from './find-program.ts'

/** What a sandboxed command does not see of the machine. Absolute real paths. */
export interface HiddenPlaces {
  readonly folders: readonly string[]
  readonly files: readonly string[]
  /** Folders inside hidden ones that are shown all the same, read-only. */
  readonly shown: readonly string[]
}

// Sockets in /run reach services that are outside the sandbox, such as docker, which is as good as root.
const TEMPORARY: readonly string[] = ['/tmp', '/var/tmp', '/run']

const SECRETS_IN_HOME: readonly string[] = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.netrc',
  '.npmrc',
  '.docker',
  '.kube',
  '.config/gcloud',
  '.config/loopchart',
]

// Without these a machine does not work; a home there, as daemons have it, is not hidden as a whole.
const NEEDED: readonly string[] = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/etc',
  '/proc',
  '/dev',
  '/sys',
  '/nix',
]

/**
 * Temporary folders, homes with all keys in them, our own state and config. The folder of programs that PATH finds in
 * a home is shown with the libraries beside it, so that a node of nvm works.
 */
export function hiddenPlaces(stateFolder: string, path: string): HiddenPlaces {
  const homes = [homedir(), userInfo().homedir].flatMap((home) => realPath(home))
  const config = process.env['XDG_CONFIG_HOME']
  const wanted = [
    ...TEMPORARY,
    ...homes.filter((home) => isHideable(home)),
    stateFolder,
    ...(config === undefined || config === '' ? [] : [join(config, 'loopchart')]),
    ...homes.flatMap((home) => SECRETS_IN_HOME.map((name) => join(home, name))),
  ]
  const found = [...new Set(wanted.flatMap((place) => realPath(place)))]
  const folders = found.filter((place) => isFolder(place))
  return {
    folders,
    files: found.filter((place) => !isFolder(place)),
    shown: programFolders(path)
      .flatMap((folder) => realPath(folder))
      .filter((folder) => isFolder(folder) && isShowable(folder, folders, homes)),
  }
}

// The programs of NixOS are below /run.
const SYSTEM_PROGRAMS: readonly string[] = ['/run/current-system', '/run/wrappers']

function programFolders(path: string): readonly string[] {
  const binaries = searchFolders(path).filter((folder) => basename(folder) === 'bin')
  return [...SYSTEM_PROGRAMS, ...binaries.flatMap((folder) => [folder, join(dirname(folder), 'lib')])]
}

function isShowable(folder: string, hidden: readonly string[], homes: readonly string[]): boolean {
  const isSecret = homes.some((home) => SECRETS_IN_HOME.some((name) => isWithin(join(home, name), folder)))
  return !isSecret && hidden.some((place) => place !== folder && isWithin(place, folder))
}

function isHideable(home: string): boolean {
  return home !== '/' && !NEEDED.some((needed) => isWithin(home, needed) || isWithin(needed, home))
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function realPath(path: string): readonly string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}
