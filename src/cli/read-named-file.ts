import { open } from 'node:fs/promises'

import { LoopchartError } from '../errors.ts'

/** Reads a file that the user named, up to a size. Throws `file_unreadable`, saying what the file was to be. */
export async function readNamedFile(path: string, bytesMax: number, whatItIs: string): Promise<Buffer> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      if (size > bytesMax) throw new Error(`it has ${size} bytes, at most ${bytesMax} are taken`)
      return await readUpTo(file, bytesMax)
    } finally {
      await file.close()
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const name = path === '' ? 'a file without a name' : path
    throw new LoopchartError(
      'file_unreadable',
      `cannot read ${name}: ${reason}; give the path of ${whatItIs}`,
      {
        cause,
      },
    )
  }
}

// What is not a regular file has no size to go by: a pipe as `<(command)` makes one, or a device without an end.
async function readUpTo(file: Awaited<ReturnType<typeof open>>, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    if (!Buffer.isBuffer(chunk)) continue
    chunks.push(chunk)
    length += chunk.length
    if (length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`)
  }
  return Buffer.concat(chunks)
}
