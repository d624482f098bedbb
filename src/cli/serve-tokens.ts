import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, writeFile, type FileHandle } from 'node:fs/promises'

import { LoopchartError } from '../errors.ts'

/** One who may speak to the service, as a line of a token file says it. */
export interface ServeToken {
  readonly token: string
  readonly scopes: readonly ['read' | 'run' | 'approve']
}

const TOKEN_BYTES = 32
const FILE_BYTES_MAX = 64 * 1024
const OTHERS = 0o077
const LINE = /^(?:(read|run|approve)[ \t]+)?([!-~]{24,512})$/u

/** A token that nobody guesses, in characters that an address can hold. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/**
 * The tokens of a file, which is made if it is not there; new ones for this process without a file. There is always one
 * that may only read. Throws `usage` for a file that others could read, or that does not hold tokens.
 */
export async function readTokens(path: string | undefined): Promise<readonly ServeToken[]> {
  if (path === undefined) return newTokens()
  const tokens = (await readFileOf(path)) ?? (await makeFile(path))
  return tokens.some(isReading) ? tokens : [{ token: newToken(), scopes: ['read'] }, ...tokens]
}

/** Whether a token may only read. */
export function isReading({ scopes: [scope] }: ServeToken): boolean {
  return scope === 'read'
}

function newTokens(): readonly ServeToken[] {
  return [
    { token: newToken(), scopes: ['read'] },
    { token: newToken(), scopes: ['approve'] },
  ]
}

async function readFileOf(path: string): Promise<readonly ServeToken[] | null> {
  let file: FileHandle
  try {
    // What is checked is what is read: the file is opened first, and a link is not followed. A pipe would hold us up.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    const isLink = cause instanceof Error && 'code' in cause && cause.code === 'ELOOP'
    const reason = isLink ? 'it is a link' : messageOf(cause)
    throw new LoopchartError('file_unreadable', `cannot read the token file ${path}: ${reason}`, { cause })
  }
  try {
    await checkFile(file, path)
    return parseTokens(await file.readFile('utf8'), path)
  } finally {
    await file.close()
  }
}

async function checkFile(file: FileHandle, path: string): Promise<void> {
  const stats = await file.stat()
  const { mode, uid, size } = stats
  const owner = process.getuid?.()
  if (!stats.isFile() || size > FILE_BYTES_MAX) throw wrong(path, 'is not a file of tokens')
  // Where there are no owners, there are no such modes either.
  if (owner === undefined) return
  if (uid !== owner) throw wrong(path, 'belongs to somebody else; take one of your own')
  if ((mode & OTHERS) === 0) return
  const shown = (mode & 0o777).toString(8)
  throw wrong(
    path,
    `is open to others (mode ${shown}); chmod 600 it, and take new tokens if somebody may have seen these`,
  )
}

function parseTokens(text: string, path: string): readonly ServeToken[] {
  const lines = text.split(/\r?\n/u).map((line) => line.trim())
  const tokens = lines.flatMap((line, at): readonly ServeToken[] => {
    if (line === '' || line.startsWith('#')) return []
    const [, scope, token] = LINE.exec(line) ?? []
    // The line itself is not shown: it may be a token with something wrong about it.
    if (token === undefined) {
      throw wrong(
        path,
        `is wrong in line ${at + 1}: that must be read, run or approve and a token of 24 characters or more`,
      )
    }
    return [{ token, scopes: [scope === 'read' || scope === 'run' ? scope : 'approve'] }]
  })
  if (tokens.length === 0) throw wrong(path, 'has no token; remove it, and it is made anew')
  return tokens
}

async function makeFile(path: string): Promise<readonly ServeToken[]> {
  const tokens = newTokens()
  const lines = tokens.map(({ scopes: [scope], token }) => `${scope} ${token}\n`)
  try {
    await writeFile(path, `# Who may do what at loopchart serve. Keep it to yourself.\n${lines.join('')}`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    })
  } catch (cause) {
    const message = `cannot make the token file ${path}: ${messageOf(cause)}; name another --token-file`
    throw new LoopchartError('output_unwritable', message, { cause })
  }
  return tokens
}

function wrong(path: string, what: string): LoopchartError {
  return new LoopchartError('usage', `the token file ${path} ${what}`)
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
