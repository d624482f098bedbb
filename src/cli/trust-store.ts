import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { LoopchartError } from '../errors.ts'
import { describeIssue } from '../loop/describe-issue.ts'
import { parseJson } from '../protocol/json.ts'
import { z } from './load-zod.ts'

/** A folder that the user trusts, and the config in it that they have seen. */
export interface TrustedWorkspace {
  /** The real absolute path. */
  readonly path: string
  /** The SHA-256, in hex, of `.loopchart/config.json`; null: there was none. */
  readonly configHash: string | null
}

const BYTES_MAX = 4 * 1024 * 1024
const OTHERS_WRITE = 0o022

const trustShape = z.strictObject({
  v: z.literal(1),
  workspaces: z.array(
    z.strictObject({
      path: z.string().startsWith('/'),
      config_sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/u)
        .nullable(),
    }),
  ),
})

/** Where trust is recorded. */
export function trustPath(stateFolder: string): string {
  return join(stateFolder, 'trust.json')
}

/**
 * Reads what is trusted; nothing when no file is there. A file that cannot be read, or that somebody else may have
 * written, throws `config_invalid`: it is never taken for a yes, and not for a no that would be recorded over it.
 */
export async function readTrust(stateFolder: string): Promise<readonly TrustedWorkspace[]> {
  const path = trustPath(stateFolder)
  const text = await readOwnFile(path)
  if (text === null) return []
  const value = parseJson(text)
  const parsed = trustShape.safeParse(value)
  if (!parsed.success) {
    throw unusable(path, value === undefined ? 'it is not JSON' : describeIssue(parsed.error))
  }
  return parsed.data.workspaces.map(({ path: folder, config_sha256: configHash }) => ({
    path: folder,
    configHash,
  }))
}

/** Writes what is trusted, whole or not at all, for nobody else to read or change. */
export async function writeTrust(
  stateFolder: string,
  workspaces: readonly TrustedWorkspace[],
): Promise<void> {
  const path = trustPath(stateFolder)
  const fresh = `${path}.${randomUUID()}`
  const entries = workspaces.map(({ path: folder, configHash }) => ({
    path: folder,
    config_sha256: configHash,
  }))
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(fresh, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify({ v: 1, workspaces: entries }, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
  } catch (cause) {
    await rm(fresh, { force: true }).catch(() => undefined)
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new LoopchartError('output_unwritable', `cannot record what is trusted: ${reason}`, { cause })
  }
}

async function readOwnFile(path: string): Promise<string | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const facts = await file.stat()
      const { size, mode, uid } = facts
      if (!facts.isFile()) throw new Error('it is not a regular file')
      if (size > BYTES_MAX) throw new Error(`it has more than ${BYTES_MAX} bytes`)
      const isOurs = uid === 0 || uid === (process.getuid?.() ?? uid)
      if (!isOurs || (mode & OTHERS_WRITE) !== 0) throw new Error('others than you can write to it')
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw unusable(path, cause instanceof Error ? cause.message : String(cause), cause)
  }
}

function unusable(path: string, reason: string, cause?: unknown): LoopchartError {
  return new LoopchartError(
    'config_invalid',
    `${path}, where trusted folders are recorded, cannot be used: ${reason}; correct it, or remove it and trust them anew`,
    { cause },
  )
}
