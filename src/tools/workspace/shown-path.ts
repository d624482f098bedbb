import { quoted } from '../quoted.ts'
import { hasUnsafeCharacters } from './workspace-path.ts'

/**
 * A path of the file system as it is shown: as it is, or quoted when it has characters that could pass for other
 * output, such as a line end.
 */
export function shownPath(path: string): string {
  return hasUnsafeCharacters(path) ? quoted(path, 1024) : path
}
