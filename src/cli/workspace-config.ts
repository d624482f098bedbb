import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import type * as zod from 'zod'

import { LoopchartError } from '../errors.ts'
import { parseJson } from '../protocol/json.ts'
import { describeIssue } from '../loop/describe-issue.ts'
import { limitsShape, policyRuleShape } from './config-file.ts'
import { z } from './load-zod.ts'

/** The config that a workspace brings along, as it was at one moment. */
export interface WorkspaceConfigFile {
  readonly text: string
  /** SHA-256 of its bytes, in hex: what trust is bound to. */
  readonly hash: string
}

/** Where it is, for people. */
export const WORKSPACE_CONFIG = '.loopchart/config.json'

const BYTES_MAX = 64 * 1024

/**
 * Everything that a workspace may say. Each of it can only make narrower what the user allows: whoever wrote the
 * repository is not who runs the agent.
 */
const workspaceShape = z
  .strictObject({
    $schema: z.string(),
    instructions: z.string().min(1).describe('What the model is told about this workspace.'),
    limits: limitsShape.describe('Each counts where it is lower than what is in force.'),
    policy: z.array(policyRuleShape.extend({ decision: z.enum(['deny', 'ask']) })),
  })
  .partial()

export type WorkspaceConfig = Readonly<zod.output<typeof workspaceShape>>

/** Reads what a config says. Throws `config_invalid`, naming the field, for all that a workspace may not say. */
export function parseWorkspaceConfig({ text }: WorkspaceConfigFile): WorkspaceConfig {
  const value = parseJson(text)
  const parsed = workspaceShape.safeParse(value)
  if (parsed.success) return parsed.data
  const complaint = value === undefined ? 'it is not JSON' : describeIssue(parsed.error)
  throw new LoopchartError(
    'config_invalid',
    `${WORKSPACE_CONFIG} of the workspace: ${complaint}; it may say instructions, lower limits, and a policy that denies or asks`,
  )
}

/**
 * Reads the file, null when there is none. The folder is opened first and the file in it then, neither through a link:
 * what was looked at is what is read. Throws `config_invalid`.
 */
export async function readWorkspaceConfig(root: string): Promise<WorkspaceConfigFile | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants
  const path = join(root, '.loopchart')
  const folder = await openIfThere(path, O_RDONLY | O_NOFOLLOW | O_DIRECTORY)
  if (folder === null) return null
  try {
    // Without /proc the name of the folder is all there is.
    const held = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : path
    const file = await openIfThere(join(held, 'config.json'), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if (file === null) return null
    try {
      return await readRegular(file)
    } finally {
      await file.close()
    }
  } finally {
    await folder.close()
  }
}

async function readRegular(file: FileHandle): Promise<WorkspaceConfigFile> {
  if (!(await file.stat()).isFile()) throw refused('it is not a regular file')
  const bytes = Buffer.alloc(BYTES_MAX + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
    length += bytesRead
    if (length > BYTES_MAX) throw refused(`it has more than ${BYTES_MAX} bytes`)
    if (bytesRead === 0) break
  }
  const content = bytes.subarray(0, length)
  return { text: content.toString('utf8'), hash: hash('sha256', content) }
}

async function openIfThere(path: string, flags: number): Promise<FileHandle | null> {
  try {
    return await open(path, flags)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : ''
    if (code === 'ENOENT') return null
    if (code === 'ELOOP' || code === 'ENOTDIR') {
      throw refused('it, or the folder it is in, is a link or no folder', cause)
    }
    throw refused(`it cannot be read (${String(code)})`, cause)
  }
}

function refused(reason: string, cause?: unknown): LoopchartError {
  return new LoopchartError(
    'config_invalid',
    `${WORKSPACE_CONFIG} of the workspace is refused: ${reason}; remove it, or make it a file of its own`,
    { cause },
  )
}
