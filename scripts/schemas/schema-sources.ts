import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { SchemaSources } from './derived-files.ts'
import { messageOf, Refusal } from './refusal.ts'

/** Reads what is vendored under `root`. */
export async function readSchemaSources(root: string): Promise<SchemaSources> {
  const folder = join(root, 'schemas/openresponses')
  const documents = new Map<string, string>()
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    for (const { name } of entries.filter((entry) => entry.isDirectory())) {
      documents.set(name, await readFile(join(folder, name, 'openapi.json'), 'utf8'))
    }
    return { documents, frames: await readFile(join(root, 'schemas/frames/v1.json'), 'utf8') }
  } catch (error) {
    throw new Refusal(`cannot read the vendored schemas (${messageOf(error)}); restore them with git`, {
      cause: error,
    })
  }
}

const bytesMax = 32 * 1024 * 1024
const timeoutMs = 60_000

/** The text of a document given as a file or as an http(s) URL. */
export async function readDocument(place: string): Promise<string> {
  try {
    const bytes = /^https?:\/\//.test(place) ? await download(place) : await readFile(place)
    // Byte-identical when it is written again, or not taken at all.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new Refusal(`cannot read ${place} (${messageOf(error)}); give a readable file or URL`, {
      cause: error,
    })
  }
}

async function download(url: string): Promise<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The licence of a version: its own if it has one, else that of the newest version that is vendored. */
export async function readLicense(
  root: string,
  version: string,
  vendored: readonly string[],
): Promise<string> {
  for (const candidate of [version, ...vendored.toSorted().toReversed()]) {
    try {
      return await readFile(join(root, 'schemas/openresponses', candidate, 'LICENSE'), 'utf8')
    } catch {
      // The next version may have one.
    }
  }
  throw new Refusal('no vendored version has a LICENSE to go with the document; restore one with git')
}
