import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)

/** Every file of src/ and machines/, by its path from the root of the repository, with `/`. */
export function readSources(): ReadonlyMap<string, string> {
  const files = globSync('{src,machines}/**/*', { cwd: fileURLToPath(root), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .sort()
  return new Map(
    files.map((path) => [
      path.slice(fileURLToPath(root).length).replaceAll('\\', '/'),
      readFileSync(path, 'utf8'),
    ]),
  )
}
