import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.{deep,soak}.test.ts'],
          // No test is about how fast the machine is: a slow one takes longer, and fails nothing.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'deep',
          include: ['test/**/*.deep.test.ts'],
          testTimeout: 15 * 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'soak',
          include: ['test/**/*.soak.test.ts'],
          testTimeout: 15 * 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
