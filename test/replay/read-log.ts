import { readdirSync, readFileSync } from 'node:fs'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { parseFrame } from '../../src/frames/parse-frame.ts'

const FOLDER = new URL('../../fixtures/runs/', import.meta.url)

/** The logs of whole runs, by name. */
export const RUN_FIXTURES: readonly string[] = readdirSync(FOLDER).map((file) =>
  file.replace(/\.jsonl$/u, ''),
)

export function readLog(name: string): readonly Frame[] {
  const text = readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8')
  return text.trimEnd().split('\n').map(parseFrame)
}
