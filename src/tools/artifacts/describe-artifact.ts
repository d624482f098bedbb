import type { JsonObject } from '../../protocol/json.ts'
import type { KeptOutput } from './keep-output.ts'

/** What a result says about an output beside its text. */
export function artifactFacts({ text, bytesTotal, isTruncated, artifact }: KeptOutput): JsonObject {
  return {
    bytes_total: bytesTotal,
    bytes_preview: Buffer.byteLength(text),
    truncated: isTruncated,
    artifact:
      artifact === null ? null : { id: artifact.id, bytes: artifact.bytes, truncated: artifact.isTruncated },
  }
}
