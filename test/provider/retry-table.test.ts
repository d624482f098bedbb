import { expect, test } from 'vitest'

import { ruleForStatus, ruleForTransport } from '../../src/provider/retry-table.ts'

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

test('of all statuses, exactly 408, 409, 429 and those from 500 up are tried again', () => {
  const retried = range(100, 599).filter((status) => ruleForStatus(status).isRetryable)
  expect(retried).toEqual([408, 409, 429, ...range(500, 599)])
})

test.for([0, 99, 600, 999, Number.NaN])('a status of %s is none, and is not tried again', (status) => {
  expect(ruleForStatus(status)).toMatchObject({ code: 'response_unreadable', isRetryable: false })
})

test.for([
  ['ECONNREFUSED', 'connect_failed', true],
  ['ENOTFOUND', 'connect_failed', true],
  ['EAI_AGAIN', 'connect_failed', true],
  ['EHOSTUNREACH', 'connect_failed', true],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect_timeout', true],
  ['UND_ERR_HEADERS_TIMEOUT', 'headers_timeout', true],
  ['UND_ERR_BODY_TIMEOUT', 'stream_stalled', true],
  ['ECONNRESET', 'connection_lost', true],
  ['UND_ERR_SOCKET', 'connection_lost', true],
  ['EPIPE', 'connection_lost', true],
  ['ETIMEDOUT', 'connection_lost', true],
  ['Z_BUF_ERROR', 'connection_lost', true],
  ['Z_DATA_ERROR', 'response_unreadable', false],
  ['UND_ERR_HEADERS_OVERFLOW', 'response_unreadable', false],
  ['HPE_INVALID_CONSTANT', 'response_unreadable', false],
  ['CERT_HAS_EXPIRED', 'tls_failed', false],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_failed', false],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls_failed', false],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_failed', false],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_failed', false],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_failed', false],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_failed', false],
  ['EPROTO', 'tls_failed', false],
  ['ESOMETHING', 'request_failed', false],
  ['', 'request_failed', false],
] as const)('an error of code %s is %s', ([error, code, isRetryable]) => {
  expect(ruleForTransport(error)).toMatchObject({ code, isRetryable })
})
