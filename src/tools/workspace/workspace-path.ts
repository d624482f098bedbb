import { LoopchartError } from '../../errors.ts'
import { quoted } from '../quoted.ts'
import { classifyPath, type PathAccess, type PathKind } from './classify-path.ts'

/** A path that stays inside the workspace as far as its letters tell. Links are looked at when it is used. */
export interface WorkspacePath {
  /** Such as `a/b.txt`, with `/` between names; `.` is the root. */
  readonly path: string
  readonly names: readonly string[]
  /** For the access that it was parsed for. */
  readonly kind: PathKind
}

const PATH_BYTES_MAX = 4096
const NAME_BYTES_MAX = 255

// Controls, what reorders or hides text (bidi, zero width, tags), line separators, half a surrogate pair.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Reads a path of a model. Throws `path_outside_workspace` with the reason when it is none that can be used. */
export function parseWorkspacePath(path: string, access: PathAccess): WorkspacePath {
  const complaint = complaintAbout(path)
  if (complaint !== null) {
    const message = `the path ${quoted(path)} ${complaint}; give a path relative to the workspace, such as src/main.ts`
    throw new LoopchartError('path_outside_workspace', message)
  }
  const names = namesOf(path)
  return { path: names.join('/') || '.', names, kind: classifyPath(names, access) }
}

/** Whether a text has characters that no path may have and no terminal should get. */
export function hasUnsafeCharacters(text: string): boolean {
  return UNSAFE.test(text)
}

function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

function complaintAbout(path: string): string | null {
  if (path === '') return 'is empty'
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `is longer than ${PATH_BYTES_MAX} bytes`
  if (hasUnsafeCharacters(path)) return 'has control, invisible or direction characters'
  if (path.startsWith('/')) return 'is absolute'
  if (path.includes('\\')) return 'has a backslash'
  if (/^[a-z]:/iu.test(path)) return 'begins with a drive letter'
  const names = namesOf(path)
  if (names[0]?.startsWith('~') === true) return 'begins with ~'
  for (const name of names) {
    const about = complaintAboutName(name)
    if (about !== null) return about
  }
  return null
}

function complaintAboutName(name: string): string | null {
  if (name === '..') return 'has a .. in it'
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) return `has a name longer than ${NAME_BYTES_MAX} bytes`
  if (/[. ]$/u.test(name)) return 'has a name that ends with a dot or a space'
  // Some systems take look-alikes, such as a full-width slash, for the real thing.
  const alike = name.normalize('NFKC')
  if (/^\.{1,2}$/u.test(alike) || /[/\\]/u.test(alike))
    return 'has characters that look like a part of a path'
  return null
}
