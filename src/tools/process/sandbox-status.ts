import type { Readable } from 'node:stream'

/** The descriptor that bubblewrap reports on. It closes it before the command starts: nothing inside can write to it. */
export const STATUS_DESCRIPTOR = 3

/** The flags that make bubblewrap report. */
export const STATUS_FLAGS: readonly string[] = ['--json-status-fd', `${STATUS_DESCRIPTOR}`]

// A few short lines; more would not be its.
const LENGTH_MAX = 4096

/**
 * What bubblewrap says about a command. It reports an exit code only when the command had been started, so the lack of
 * one tells a sandbox that could not be made, or a program that is not there, from a command that failed.
 */
export class SandboxStatus {
  #text = ''

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => {
      this.#text = (this.#text + chunk.toString('latin1')).slice(0, LENGTH_MAX)
    })
  }

  /** Whether the command was started. To be asked when the stream has ended. */
  get hasStarted(): boolean {
    return this.#text.includes('"exit-code"')
  }
}
