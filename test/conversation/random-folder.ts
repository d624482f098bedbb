import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

// Thousands of steps that each wait for a disk take longer than all else; what a disk keeps is tested elsewhere.
const MEMORY = '/dev/shm'

/** A folder that is gone after the test, in memory where the machine has such a place. */
export function quickFolder(): string {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'loopchart-random-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
