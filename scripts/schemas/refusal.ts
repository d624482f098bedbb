/**
 * Why the command cannot do what it was asked: one line for stderr that also says what to do. Exit code 2.
 */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'

  constructor(message: string, options?: ErrorOptions) {
    // Messages of JSON.parse and ajv quote what they read, line breaks included.
    super(message.replaceAll(/\s+/g, ' ').slice(0, 500), options)
  }
}

/** The message of whatever was thrown, and of its cause: `fetch failed` alone says nothing. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, cause } = thrown
  return cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message
}
