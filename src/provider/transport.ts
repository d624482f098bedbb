/** One HTTP request, as a transport sends it. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  /** What all requests to a place have in common: one object for all of them. */
  readonly headers: Readonly<Record<string, string>>
  /** The same for every attempt at one request; null: it may be sent twice. */
  readonly idempotencyKey: string | null
  readonly body: string | null
  /** The same body in pieces, where it is sent so. */
  readonly pieces?: readonly BodyPiece[] | undefined
}

/** All headers of a request. */
export function headersOf({ headers, idempotencyKey }: TransportRequest): Record<string, string> {
  return idempotencyKey === null ? { ...headers } : { ...headers, 'idempotency-key': idempotencyKey }
}

/** A part of a body, and how many bytes it is in UTF-8. */
export interface BodyPiece {
  readonly text: string
  readonly byteLength: number
}

/** The headers of a response, by lower-case name; null: it has none of that name. */
export interface ResponseHeaders {
  readonly get: (name: string) => string | null
}

/** Takes what becomes of a request. After `onEnd`, `onError` or an abort it is told nothing more. */
export interface TransportSink {
  /** It waits for a connection. */
  onQueued(): void
  /** It has one, and its headers go out. */
  onConnected(): void
  /** `status` 0 for a redirect that was hidden from us, and the status with it. */
  onHead(status: number, headers: ResponseHeaders, hasBody: boolean): void
  /** Bytes of the body, decompressed. They are the sink's only during the call: what it keeps, it copies. */
  onChunk(chunk: Uint8Array): void
  onEnd(): void
  onError(error: unknown): void
}

/** Sends a request, follows no redirect, and tells the sink; the answer takes it back, with its connection. */
export type Transport = (request: TransportRequest, sink: TransportSink) => () => void
