import { LoopchartError } from '../../errors.ts'
import type { PathAccess } from './classify-path.ts'

/** The code that the system gave an error, such as ENOENT; null when it is no error of the system. */
export function systemCodeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

/** What the system refused, in words for the model. An error of ours, or one nobody expects, stays as it is. */
export function fileFault(error: unknown, path: string, access: PathAccess): unknown {
  const code = systemCodeOf(error)
  if (error instanceof LoopchartError || code === null) return error
  const fault = (ours: ConstructorParameters<typeof LoopchartError>[0], message: string): LoopchartError =>
    new LoopchartError(ours, message, { cause: error })
  switch (code) {
    case 'ENOENT':
      return fault('path_not_found', `there is nothing at ${path}; look with list_dir or glob`)
    case 'ENOTDIR': {
      const message = `a part of ${path} is not a folder`
      return fault(access === 'read' ? 'path_not_found' : 'file_unwritable', message)
    }
    case 'ELOOP':
      return fault('path_not_found', `the links at ${path} lead in a circle`)
    case 'ENAMETOOLONG':
      return fault('path_outside_workspace', 'the path is too long for this file system')
    case 'EISDIR':
    case 'ENXIO':
    case 'ENODEV':
      return notRegular(path)
    default:
      return access === 'read'
        ? fault('file_unreadable', `${path} cannot be read: ${reasonOf(code)}`)
        : fault('file_unwritable', `${path} cannot be written: ${reasonOf(code)}`)
  }
}

/** What is said about a folder, a pipe, a device or a socket where a file is needed. */
export function notRegular(path: string): LoopchartError {
  return new LoopchartError(
    'not_a_regular_file',
    `${path} is not a regular file; name a file, not a folder or device`,
  )
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be too large',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
}

function reasonOf(code: string): string {
  return REASONS[code] ?? code
}
