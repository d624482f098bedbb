import { expect, test } from 'vitest'

import { parsePlace } from '../../src/cli/serve-place.ts'

const REMOTE = [
  '0.0.0.0',
  '::',
  '0',
  '0x0',
  '127.1',
  '192.168.1.5',
  'example.com',
  '::ffff:127.0.0.1',
  ' 127.0.0.1',
]

test.for(REMOTE)('fault S17: %s is for others to reach, and needs both a word and a token file', (host) => {
  const needs = {
    code: 'usage',
    message: expect.stringContaining('--allow-remote and a --token-file') as string,
  }
  for (const flags of [{}, { allowRemote: true }, { tokenFile: 'x' }] as const) {
    expect(() => parsePlace({ host, ...flags })).toThrow(expect.objectContaining(needs) as Error)
  }
  expect(parsePlace({ host, allowRemote: true, tokenFile: 'x' })).toMatchObject({ host, isRemote: true })
})

test.for(['127.0.0.1', '127.8.8.8', 'localhost', '::1'])('%s is this machine, and needs neither', (host) => {
  expect(parsePlace({ host, port: '8080' })).toEqual({ host, port: 8080, isRemote: false })
  expect(() => parsePlace({ host, allowRemote: true, tokenFile: 'x' })).toThrow('has no effect with --host')
})

test.for(['', ' '])('an address without a name is refused: it would stand for all of them', (host) => {
  expect(() => parsePlace({ host, allowRemote: true, tokenFile: 'x' })).toThrow('an address must be named')
})

test.for(['65536', '-1', '1e3', '0x50', '80 ', ''])('%j is no port', (port) => {
  expect(() => parsePlace({ port })).toThrow('--port must be a number from 0 to 65535')
})
