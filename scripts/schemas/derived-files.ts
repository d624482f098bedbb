// The core of `npm run schemas`: from the vendored sources to the text of every file that is derived from
// them.

import { frameFiles } from './frame-files.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { parseOpenApiDocument } from './openapi-document.ts'
import { protocolFiles } from './protocol-files.ts'
import { Refusal } from './refusal.ts'
import { splitDocument } from './split-document.ts'

/** What everything is derived from. */
export interface SchemaSources {
  /** The text of each vendored OpenAPI document by its version. */
  readonly documents: ReadonlyMap<string, string>
  /** The text of schemas/frames/v1.json. */
  readonly frames: string
}

/** Every derived file: its path from the root of the repository, and its text. Writes nothing. */
export async function derivedFiles(sources: SchemaSources): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  const addAll = (folder: string, added: ReadonlyMap<string, string>): void => {
    for (const [name, text] of added) files.set(`${folder}/${name}`, text)
  }
  const documents = [...sources.documents].map(([version, text]) => parseVendored(version, text))
  for (const document of documents)
    addAll(`schemas/openresponses/${document.version}`, splitDocument(document))
  addAll('src/protocol/generated', await protocolFiles(newest(documents)))
  addAll('src/frames/generated', await frameFiles(sources.frames))
  return files
}

/** The folders in which every file is a derived one. */
export function derivedFolders(sources: SchemaSources): readonly string[] {
  const versions = [...sources.documents.keys()].map((version) => `schemas/openresponses/${version}`)
  return [
    ...versions.flatMap((folder) => [`${folder}/components`, `${folder}/paths`]),
    'src/protocol/generated',
    'src/frames/generated',
  ]
}

function parseVendored(version: string, text: string): OpenApiDocument {
  const document = parseOpenApiDocument(text)
  if (document.version === version) return document
  throw new Refusal(
    `schemas/openresponses/${version} holds the document of ${document.version}; rename the folder`,
  )
}

function newest(documents: readonly OpenApiDocument[]): OpenApiDocument {
  const [last] = documents.toSorted((a, b) => (a.version < b.version ? 1 : -1))
  if (last === undefined)
    throw new Refusal('schemas/openresponses holds no version; run with the file or URL of one')
  return last
}
