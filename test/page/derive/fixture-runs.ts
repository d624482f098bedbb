import { readdirSync, readFileSync } from 'node:fs'

import type { Frame } from '../../../src/frames/generated/frame.ts'
import { parseFrame } from '../../../src/frames/parse-frame.ts'

const FOLDER = new URL('../../../fixtures/runs/', import.meta.url)

/** The recorded runs by name. */
export const FIXTURE_RUNS: readonly (readonly [string, readonly Frame[]])[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => [name, readRun(name)])

function readRun(name: string): readonly Frame[] {
  return readFileSync(new URL(name, FOLDER), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => parseFrame(line))
}
