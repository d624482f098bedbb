/**
 * The SHA-256 of a text in UTF-8, as base64url: what `hash('sha256', text, 'base64url')` of Node gives, where there is
 * no Node and no time to wait for a promise. FIPS 180-4, section 6.2.
 */
export function sha256(text: string): string {
  const words = new Uint32Array(64)
  const state = Uint32Array.from(INITIAL)
  const bytes = padded(new TextEncoder().encode(text))
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    schedule(view, at, words)
    compress(state, words)
  }
  return base64url(state)
}

const BLOCK_BYTES = 64

/** The message, a 1, zeros up to a whole block, and the length in bits. */
function padded(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES
  const bytes = new Uint8Array(length)
  bytes.set(message)
  bytes[message.length] = 0x80
  new DataView(bytes.buffer).setBigUint64(length - 8, BigInt(message.length) * 8n)
  return bytes
}

function schedule(view: DataView, at: number, words: Uint32Array): void {
  for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(at + i * 4)
  for (let i = 16; i < 64; i += 1) {
    const [early, late] = [word(words, i - 15), word(words, i - 2)]
    const sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    words[i] = word(words, i - 16) + sigma0 + word(words, i - 7) + sigma1
  }
}

function compress(state: Uint32Array, words: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let i = 0; i < 64; i += 1) {
    const mixed = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g))
    const first = (h + mixed + word(ROUNDS, i) + word(words, i)) | 0
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at] = word(state, at) + value
}

function word(words: Uint32Array, at: number): number {
  return words[at] ?? 0
}

function rotate(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by))
}

function base64url(state: Uint32Array): string {
  const bytes = [...state].flatMap((value) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff))
  return btoa(String.fromCodePoint(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** The first so many primes. */
function primes(count: number): readonly number[] {
  const found: number[] = []
  for (let next = 2; found.length < count; next += 1) {
    if (found.every((prime) => next % prime !== 0)) found.push(next)
  }
  return found
}

/** The first 32 bits of the fraction of a number, whose own precision is enough for the roots of small primes. */
function fractionBits(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32)
}

const INITIAL = primes(8).map((prime) => fractionBits(Math.sqrt(prime)))
const ROUNDS = Uint32Array.from(primes(64), (prime) => fractionBits(Math.cbrt(prime)))
