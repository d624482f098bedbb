import { createHash } from 'node:crypto'

import type { Checkpoint } from './conversation-source.ts'

/** A checkpoint whose artifact id is the SHA-256 of its text, in hex: the same summary has the same id everywhere. */
export function makeCheckpoint(summary: Omit<Checkpoint, 'type' | 'artifactId'>): Checkpoint {
  const artifactId = createHash('sha256').update(summary.text).digest('hex')
  return { type: 'checkpoint', ...summary, artifactId }
}
