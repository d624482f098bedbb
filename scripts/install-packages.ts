import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

/**
 * Installs the packages that a folder has of its own, unless they are there. Says whether they are in the end. Some
 * tools have such packages: few people need them, and the root stays light without.
 */
export function installPackages(folder: string): boolean {
  if (isInstalled(folder)) return true
  return spawnSync('npm', ['ci', '--prefix', folder], { stdio: 'inherit' }).status === 0
}

/** Whether the packages are those of the lock file: npm writes a lock of its own when it has installed it. */
function isInstalled(folder: string): boolean {
  return writtenAt(`${folder}node_modules/.package-lock.json`) >= writtenAt(`${folder}package-lock.json`)
}

function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
