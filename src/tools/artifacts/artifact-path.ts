import { join } from 'node:path'

/** Where the artifact of that id is: some thousand files in one folder would be slow to list. */
export function artifactPath(folder: string, id: string): string {
  return join(folder, id.slice(0, 2), id)
}
