import { matchesGlob, relative } from 'node:path'

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { currentRoom } from './rooms.ts'

const { tests } = currentRoom()

class AsListed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId))
  }
}

function rank({ moduleId }: TestSpecification): number {
  return tests.findIndex((pattern) => matchesGlob(relative(process.cwd(), moduleId), pattern))
}

export default defineConfig({
  test: {
    include: [...tests],
    // Of the scripts and the schemas, and slow.
    exclude: ['test/unit/{closing-line-reporter,need,parse-request,schemas,validation-profiles}.test.ts'],
    setupFiles: ['scripts/mutation/skip-long-tests.ts'],
    sequence: { sequencer: AsListed },
    // Each mutant has a worker of its own; another one for each test file doubles the time.
    isolate: false,
    testTimeout: 10_000,
  },
})
