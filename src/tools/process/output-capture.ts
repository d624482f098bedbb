import { isUtf8 } from 'node:buffer'

import type { ArtifactStore, ArtifactWriter, StoredArtifact } from '../artifacts/artifact-store.ts'
import type { KeptOutput } from '../artifacts/keep-output.ts'
import { PREVIEW_BYTES_MAX, previewText } from '../artifacts/output-preview.ts'
import { ByteEnds } from './byte-ends.ts'
import { LiveText } from './live-text.ts'

/**
 * Takes one stream of a command. However much comes, 1 MiB of it is held: its begin and its end. From 512 KiB on, all of
 * it goes to an artifact too.
 */
export class OutputCapture {
  readonly #ends = new ByteEnds(PREVIEW_BYTES_MAX, PREVIEW_BYTES_MAX)
  readonly #artifacts: ArtifactStore
  readonly #live: LiveText
  #writer: ArtifactWriter | null = null

  constructor(artifacts: ArtifactStore, onText: (text: string) => void) {
    this.#artifacts = artifacts
    this.#live = new LiveText(onText)
  }

  /** Takes the next bytes; they are copied. */
  take(chunk: Uint8Array): void {
    const { bytesTotal } = this.#ends
    if (this.#writer === null && bytesTotal + chunk.length > PREVIEW_BYTES_MAX) {
      this.#writer = this.#artifacts.begin()
      this.#writer.write(this.#ends.head())
    }
    this.#writer?.write(chunk)
    this.#ends.take(chunk)
    this.#live.take(chunk)
  }

  /** What the model is shown and what is kept. Called once, after the last bytes. */
  async finish(): Promise<KeptOutput> {
    this.#live.end()
    const { bytesTotal } = this.#ends
    const head = this.#ends.head()
    const isTruncated = this.#writer !== null
    const artifact = await this.#store(head)
    const ends = { head, tail: this.#ends.tail(), bytesTotal, artifactId: artifact?.id ?? null }
    return { text: previewText(ends), bytesTotal, isTruncated, artifact }
  }

  async #store(head: Uint8Array): Promise<StoredArtifact | null> {
    if (this.#writer !== null) return this.#writer.keep()
    // The text has lost what was not UTF-8; the bytes as they were are here.
    return isUtf8(head) ? null : this.#artifacts.put(head)
  }
}
