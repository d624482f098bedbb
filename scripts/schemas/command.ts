import type { SchemaSources } from './derived-files.ts'
import { derivedFiles, derivedFolders } from './derived-files.ts'
import { compareTree, writeTree } from './derived-tree.ts'
import { parseOpenApiDocument } from './openapi-document.ts'
import { messageOf, Refusal } from './refusal.ts'
import { readDocument, readLicense, readSchemaSources } from './schema-sources.ts'

/** Where the command works and speaks. */
export interface CommandPlace {
  /** The root of the repository, or of a copy. */
  readonly root: string
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
}

/**
 * Does what `npm run schemas` was asked to do and gives its exit code: 0, 1 when a check found something, 2
 * with one line on stderr when it could not be done. All texts are made before the first is written.
 */
export async function schemasCommand(args: readonly string[], place: CommandPlace): Promise<number> {
  try {
    return await runCommand(args, place)
  } catch (error) {
    place.stderr(`schemas: ${new Refusal(messageOf(error)).message}\n`)
    return 2
  }
}

async function runCommand(args: readonly string[], place: CommandPlace): Promise<number> {
  const [argument] = args
  if (args.length > 1 || (argument?.startsWith('-') === true && argument !== '--check')) {
    throw new Refusal(
      'unknown arguments; usage: npm run schemas -- [--check | <file-or-url of an openapi.json>]',
    )
  }
  const vendored = await readSchemaSources(place.root)
  if (argument === '--check') return check(vendored, place)
  if (argument === undefined) return write(vendored, new Map(), place)

  const text = await readDocument(argument)
  const { version } = parseOpenApiDocument(text)
  const folder = `schemas/openresponses/${version}`
  const added = new Map([
    [`${folder}/openapi.json`, text],
    [`${folder}/LICENSE`, await readLicense(place.root, version, [...vendored.documents.keys()])],
  ])
  return write({ ...vendored, documents: new Map([...vendored.documents, [version, text]]) }, added, place)
}

async function check(sources: SchemaSources, { root, stdout, stderr }: CommandPlace): Promise<number> {
  const difference = await compareTree(root, await derivedFiles(sources), derivedFolders(sources))
  const lines = Object.entries(difference).flatMap(([kind, paths]: [string, readonly string[]]) =>
    paths.map((path) => `${kind}: ${path}\n`),
  )
  if (lines.length === 0) return 0
  stdout(lines.join(''))
  stderr('schemas: derived files are not up to date; run: npm run schemas\n')
  return 1
}

async function write(
  sources: SchemaSources,
  added: ReadonlyMap<string, string>,
  { root, stdout }: CommandPlace,
): Promise<number> {
  const files = new Map([...added, ...(await derivedFiles(sources))])
  const { missing, stale, superfluous } = await writeTree(root, files, derivedFolders(sources))
  const counts = `${missing.length} new, ${stale.length} changed, ${superfluous.length} removed`
  stdout(`schemas: ${files.size} files, ${counts}\n`)
  return 0
}
