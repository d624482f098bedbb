import { currentRoom } from './rooms.ts'

const { name, mutate } = currentRoom()

export default {
  mutate: [mutate, '!**/generated/**'],
  testRunner: 'vitest',
  // The tests of a mutant are those that touched its place in the run without mutants, so no imports are followed.
  vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // What only runs when a file is loaded would cost all tests for each mutant.
  ignoreStatic: true,
  concurrency: 2,
  incremental: true,
  incrementalFile: `reports/mutation/${name}-incremental.json`,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `reports/mutation/${name}.json` },
  thresholds: { high: 85, low: 75, break: 70 },
  disableTypeChecks: false,
  // Stryker would rewrite the file with an API that TypeScript 7 does not have, and nothing here reads it.
  tsconfigFile: 'none',
  ignorePatterns: ['dist', 'bench', '.ci'],
}
