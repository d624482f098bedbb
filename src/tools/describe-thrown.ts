const BYTES_MAX = 8 * 1024

/**
 * What somebody threw, in words: the message of an error, the text of anything else, at most 8 KiB. It never
 * throws, though the thing thrown may do so at every touch.
 */
export function describeThrown(thrown: unknown): string {
  try {
    return fit(read(thrown)) || 'something without a message was thrown'
  } catch {
    return 'something that cannot be read was thrown'
  }
}

function read(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
    const { message } = thrown
    if (typeof message === 'string' && message !== '') return message
    if ('name' in thrown && typeof thrown.name === 'string') return thrown.name
  }
  if (typeof thrown === 'function') return 'a function was thrown'
  const json: unknown = typeof thrown === 'object' ? JSON.stringify(thrown) : undefined
  return typeof json === 'string' ? json : String(thrown)
}

function fit(text: string): string {
  const mark = '...'
  if (text.length * 3 <= BYTES_MAX) return text
  const { read, written } = new TextEncoder().encodeInto(text, new Uint8Array(BYTES_MAX - mark.length))
  return read === text.length && written <= BYTES_MAX ? text : text.slice(0, read) + mark
}
