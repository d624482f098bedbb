import type { ArtifactStore } from './artifact-store.ts'
import type { StoredArtifact } from './artifact-writer.ts'
import { PREVIEW_BYTES_MAX, previewText } from './output-preview.ts'

/** An output as a model is shown it, and where the rest is. */
export interface KeptOutput {
  readonly text: string
  readonly bytesTotal: number
  /** Whether the text is less than the output. */
  readonly isTruncated: boolean
  /** Where the whole is; null when the text is the whole, or the disk did not take it. */
  readonly artifact: StoredArtifact | null
}

/** Makes an output fit for a model; one of more than 512 KiB goes to the store. */
export async function keepOutput(artifacts: ArtifactStore, bytes: Uint8Array): Promise<KeptOutput> {
  const bytesTotal = bytes.length
  const isTruncated = bytesTotal > PREVIEW_BYTES_MAX
  const artifact = isTruncated ? await artifacts.put(bytes) : null
  const ends = { head: bytes, tail: new Uint8Array(), bytesTotal, artifactId: artifact?.id ?? null }
  return { text: previewText(ends), bytesTotal, isTruncated, artifact }
}
