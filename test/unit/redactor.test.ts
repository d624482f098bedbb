import { expect, test } from 'vitest'

import { Redactor } from '../../src/frames/redactor.ts'
import { listSecrets } from '../../src/cli/secrets.ts'

const SECRET = 'p"ss/w\u00f6rd-0123456789'

test('a secret is found in the spellings of JSON and of addresses', () => {
  const redactor = new Redactor([SECRET])
  const spelled = [
    SECRET,
    JSON.stringify(SECRET),
    encodeURIComponent(SECRET),
    JSON.stringify(JSON.stringify({ a: SECRET })),
  ]
  for (const text of spelled) expect(redactor.text(`{${text}`)).not.toMatch(/0123456789/u)
})

test('a secret that JSON spells with escapes is found, at any depth', () => {
  const escaped = `{"a":"${String.raw`\u0073k-live-0123456789`}"}`
  expect(new Redactor(['sk-live-0123456789']).text(JSON.stringify({ body: escaped }))).toBe(
    String.raw`{"body":"{\"a\":\"[redacted]\"}"}`,
  )
})

test('masked JSON is still JSON, also where a secret begins like an escape', () => {
  const redacted = new Redactor(['nightingale-99']).text(
    JSON.stringify({ text: '\nightingale-99 nightingale-99' }),
  )
  expect(JSON.parse(redacted)).toEqual({ text: '\nightingale-99 [redacted]' })
})

test('a secret that begins with another one leaves no rest', () => {
  expect(new Redactor(['abcdefgh', 'abcdefgh-ijkl']).text('x abcdefgh-ijkl abcdefgh y')).toBe(
    'x [redacted] [redacted] y',
  )
})

test('the key, secrets by the names of variables, and those in an address are secret; short words are not', () => {
  const env = {
    GITHUB_TOKEN: 'ghp_0123456789',
    API_KEY: 'short',
    HOME: '/home/someone',
    DB_PASSWORD: 'correct-horse',
  }
  const config = { base_url: 'https://user:battery%20staple@host/v1?sig=zzzzzzzz' }
  expect(listSecrets({ apiKey: 'the-key', env, config })).toEqual([
    'the-key',
    'ghp_0123456789',
    'correct-horse',
    'battery staple',
    'user',
    'zzzzzzzz',
  ])
})
