import { isUtf8 } from 'node:buffer'
import { basename, extname } from 'node:path'

import { LoopchartError } from '../errors.ts'
import type { InputPart } from '../loop/run-input.ts'
import { readNamedFile } from './read-named-file.ts'

const ATTACHMENT_BYTES_MAX = 10 * 1024 * 1024
const ATTACHMENTS_MAX = 20

const IMAGES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** Files as parts of the user's message: images as images, text as text under its name, the rest as files. */
export async function readAttachments(paths: readonly string[]): Promise<readonly InputPart[]> {
  if (paths.length > ATTACHMENTS_MAX) {
    throw new LoopchartError(
      'usage',
      `at most ${ATTACHMENTS_MAX} files can be attached, these are ${paths.length}`,
    )
  }
  return Promise.all(paths.map(readAttachment))
}

async function readAttachment(path: string): Promise<InputPart> {
  const bytes = await readNamedFile(path, ATTACHMENT_BYTES_MAX, 'a file to attach')
  const filename = basename(path)
  const extension = extname(path).toLowerCase()
  const image = IMAGES[extension]
  if (image !== undefined) return { type: 'input_image', image_url: dataUrl(image, bytes), detail: 'auto' }
  if (isUtf8(bytes) && !bytes.includes(0)) {
    return { type: 'input_text', text: `File ${JSON.stringify(filename)}:\n\n${bytes.toString('utf8')}` }
  }
  const type = extension === '.pdf' ? 'application/pdf' : 'application/octet-stream'
  return { type: 'input_file', filename, file_data: dataUrl(type, bytes) }
}

function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}
