import { join } from 'node:path'

import { defaultStateFolder } from '../state-folder.ts'

/** Where runs are kept unless somebody says otherwise. */
export function defaultStorePath(env: Readonly<Record<string, string | undefined>>): string {
  return join(defaultStateFolder(env), 'runs.db')
}
