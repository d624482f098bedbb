import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the packages that users of this one get along with it are, from the root. */
export function installedPackages(root: string): readonly string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: true }>>
  }
  return Object.entries(lock.packages).flatMap(([path, { dev }]) => (path === '' || dev === true ? [] : path))
}

/** What they and the files that would be published take on the disk. */
export function installedBytes(root: string, packages: readonly string[]): number {
  // npm itself says what it would publish; nothing is sent and nothing written.
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [own] = JSON.parse(printed) as readonly [{ readonly files: readonly { readonly path: string }[] }]
  return [
    ...packages.map((path) => diskBytes(join(root, path))),
    ...own.files.map(({ path }) => diskBytes(join(root, path))),
  ].reduce((total, bytes) => total + bytes, 0)
}

function diskBytes(path: string): number {
  const { blocks, size } = lstatSync(path)
  // Windows counts no blocks.
  const own = blocks === 0 ? size : blocks * 512
  if (!lstatSync(path).isDirectory()) return own
  // What is in a node_modules of its own is a package of the list.
  const names = readdirSync(path).filter((name) => name !== 'node_modules')
  return names.reduce((total, name) => total + diskBytes(join(path, name)), own)
}
