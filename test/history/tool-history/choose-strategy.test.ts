import { expect, test } from 'vitest'

import {
  chooseStrategy,
  fallbackFromNative,
  NativeStrategy,
  strategyNamed,
  supportsNativeToolHistory,
  TextEmbedStrategy,
} from '../../../src/history/index.ts'

test('T16: native history is off unless an endpoint is known to take it', () => {
  expect(supportsNativeToolHistory()).toBe(false)
  expect(supportsNativeToolHistory({})).toBe(false)
  expect(supportsNativeToolHistory({ nativeToolHistory: false })).toBe(false)
  expect(supportsNativeToolHistory({ nativeToolHistory: true })).toBe(true)
})

const able = { nativeToolHistory: true }

test('K13: auto is text until the one capability says otherwise', () => {
  const text = { strategy: 'text-embed', reason: 'not_supported', canFallBack: false }
  expect(chooseStrategy()).toEqual(text)
  expect(chooseStrategy({ setting: 'auto', hasFallenBack: true })).toEqual(text)
  expect(chooseStrategy({ setting: 'auto', capabilities: able })).toEqual({
    strategy: 'native',
    reason: 'supported',
    canFallBack: true,
  })
})

test('T25: auto falls back from native to text, and only once', () => {
  expect(chooseStrategy({ capabilities: able, hasFallenBack: true })).toEqual({
    strategy: 'text-embed',
    reason: 'fell_back',
    canFallBack: false,
  })
})

test.each(['native', 'text-embed'] as const)(
  'K13: %s stays when it was set, whatever else is known',
  (setting) => {
    for (const hasFallenBack of [false, true]) {
      for (const capabilities of [{}, able]) {
        expect(chooseStrategy({ setting, capabilities, hasFallenBack })).toEqual({
          strategy: setting,
          reason: 'set',
          canFallBack: false,
        })
      }
    }
  },
)

test('a name gives its strategy', () => {
  expect(strategyNamed('native')).toBeInstanceOf(NativeStrategy)
  expect(strategyNamed('text-embed')).toBeInstanceOf(TextEmbedStrategy)
})

const refusal = {
  type: 'invalid_request_error',
  code: null,
  message: 'no',
  param: null,
  status: 400,
  headers: null,
}

test.each<[string, unknown]>([
  ['a message about invalid input', { ...refusal, message: 'Invalid input' }],
  ['a code for invalid input', { ...refusal, code: 'invalid_input' }],
  ['the input as the wrong field', { ...refusal, param: 'input' }],
  ['a part of the input as the wrong field', { ...refusal, param: 'input[3].type' }],
  ['a word about calls', { ...refusal, message: 'No tool output found for function call call_1' }],
  ['a body that names its status', { error: { message: 'Invalid input' }, status: 400 }],
  [
    'what the provider room makes of it',
    { code: 'request_refused', message: 'x', provider: { ...refusal, param: 'input' } },
  ],
  ['an error that carries it', Object.assign(new Error('Invalid input'), { status: 400 })],
])('T25: a 400 with %s lets native fall back to text', (_, error) => {
  expect(fallbackFromNative(error)).toBe(true)
})

test.each<[string, unknown]>([
  ['another field', { ...refusal, param: 'tools[0].name' }],
  ['a field that only begins like input', { ...refusal, param: 'input_tokens' }],
  ['another status', { ...refusal, message: 'Invalid input', status: 429 }],
  ['no status', { ...refusal, message: 'Invalid input', status: null }],
  ['a context that is too long', { ...refusal, param: 'input', code: 'context_length_exceeded' }],
  ['a lost cursor', { ...refusal, param: 'input', code: 'previous_response_not_found' }],
  ['nothing said', { status: 400 }],
  ['a plain text', 'Invalid input'],
  ['nothing', undefined],
  ['a network error', new TypeError('fetch failed')],
])('T25: a failure with %s is no reason to fall back', (_, error) => {
  expect(fallbackFromNative(error)).toBe(false)
})
