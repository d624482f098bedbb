import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { readProviderError } from '../../src/protocol/provider-error.ts'
import { sampleEvent, sampleSchema } from '../sample-event.ts'

const nothing = { type: null, code: null, message: null, param: null, status: null, headers: null }

test.each([
  [
    'the body of an HTTP error',
    {
      error: {
        message: 'no such model',
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      },
    },
    { type: 'invalid_request_error', code: 'model_not_found', message: 'no such model', param: 'model' },
  ],
  [
    'a nested error event',
    {
      type: 'error',
      sequence_number: 4,
      error: {
        type: 'too_many_requests',
        code: null,
        message: 'slow down',
        param: null,
        headers: { 'Retry-After': '3' },
      },
    },
    { type: 'too_many_requests', message: 'slow down', headers: { 'retry-after': '3' } },
  ],
  [
    'a flat error event, whose type is not the type of the error',
    { type: 'error', sequence_number: 4, code: 'rate_limit_exceeded', message: 'slow down', param: null },
    { code: 'rate_limit_exceeded', message: 'slow down' },
  ],
  [
    'an error on a WebSocket with its status',
    { type: 'error', status: 400, error: { code: 'previous_response_not_found', message: 'gone' } },
    { code: 'previous_response_not_found', message: 'gone', status: 400 },
  ],
  [
    'the error of a failed response',
    { id: 'resp_1', object: 'response', status: 'failed', error: { code: 'server_error', message: 'sorry' } },
    { code: 'server_error', message: 'sorry' },
  ],
  [
    'response.failed itself',
    {
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error', message: 'sorry' } },
    },
    { code: 'server_error', message: 'sorry' },
  ],
  ['the error alone', { code: 'server_error', message: 'sorry' }, { code: 'server_error', message: 'sorry' }],
  ['an error that is a text', { error: 'model is loading' }, { message: 'model is loading' }],
  [
    'a numeric code, which is the HTTP status',
    { error: { code: 429, message: 'slow down' } },
    { code: '429', message: 'slow down', status: 429 },
  ],
  [
    'an error at the top with an object field of its own',
    { object: 'error', message: 'bad', type: 'BadRequestError', param: null, code: 400 },
    { type: 'BadRequestError', code: '400', message: 'bad', status: 400 },
  ],
  ['an error event with nothing in it', { type: 'error' }, {}],
  ['an error object with nothing in it', { error: {} }, {}],
  [
    'fields of other types, which count as nothing',
    { error: { message: 42, code: {}, param: [], type: true } },
    {},
  ],
])('an error is read from %s', (_, value, expected) => {
  expect(readProviderError(value)).toEqual({ ...nothing, ...expected })
})

test.each([
  ['null', null],
  ['a text', 'no'],
  ['an array', [{ error: {} }]],
  ['an empty object', {}],
  ['a response without an error', { ...sampleSchema('ResponseResource'), error: null }],
  ['an event of the text', sampleEvent('response.output_text.delta')],
  ['an error that is null', { error: null, status: 'completed' }],
  ['an error that is an empty text', { error: '' }],
])('there is no error in %s', (_, value) => {
  expect(readProviderError(value)).toBeNull()
})

test('headers that are no texts are left out, and a hostile name stays a plain key', () => {
  const headers: unknown = JSON.parse('{"__proto__":"x","a":1,"B":"2"}')
  const error = readProviderError({ error: { headers } })
  expect(Object.keys(error?.headers ?? {})).toEqual(['__proto__', 'b'])
  expect(Object.getPrototypeOf(error?.headers)).toBe(Object.prototype)
})

test('a value that throws when it is read is no error and throws nothing', () => {
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap')
      },
    },
  )
  expect(readProviderError(trap)).toBeNull()
  expect(readProviderError({ error: trap })).toBeNull()
})

test('any JSON value is read without an exception', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(() => readProviderError(value)).not.toThrow()
      expect(readProviderError({ type: 'error', error: value })).not.toBeNull()
      expect(() => readProviderError({ response: value })).not.toThrow()
    }),
    { seed: 1, numRuns: 500 },
  )
})
