import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { profileFor, PROFILES, PROFILES_VERSION } from '../../src/provider/profiles.ts'

test.for([
  ['https://api.openai.com/v1', 'openai'],
  ['https://openrouter.ai/api/v1', 'openrouter'],
  ['https://ai-gateway.vercel.sh/v1', 'vercel-gateway'],
  ['http://localhost:11434/v1', 'ollama'],
  ['http://192.168.1.7:11434/v1', 'ollama'],
  ['http://localhost:1234/v1', 'lmstudio'],
  ['http://127.0.0.1:1234/v1', 'lmstudio'],
  ['http://[::1]:1234/v1', 'lmstudio'],
  ['http://example.com:1234/v1', 'generic'],
  ['http://127.0.0.1:8000/v1', 'generic'],
  ['https://api.openai.com.evil.example/v1', 'generic'],
  ['https://evil.example/api.openai.com', 'generic'],
  ['not a URL', 'generic'],
] as const)('%s is taken for %s', ([baseUrl, name]) => {
  expect(profileFor(baseUrl).name).toBe(name)
})

test('a profile that has a place of its own is recognised there', () => {
  const placed = Object.values(PROFILES).filter(({ places }) => places.length > 0)
  expect(placed.map(({ baseUrl }) => profileFor(baseUrl ?? '').name)).toEqual(placed.map(({ name }) => name))
})

test('a provider that cannot continue by id is said to refuse the id, and no other', () => {
  for (const { name, canContinueById, unsupported } of Object.values(PROFILES)) {
    expect([name, unsupported.includes('previous_response_id')]).toEqual([name, canContinueById === false])
  }
})

test('the guide has every profile as it is, and its version', () => {
  const page = readFileSync(new URL('../../docs/guides/providers.md', import.meta.url), 'utf8')
  expect(page).toContain(`\`${PROFILES_VERSION}\``)
  const words = new Map([
    [true, 'yes'],
    [false, 'no'],
    [null, 'not known'],
  ])
  for (const profile of Object.values(PROFILES)) {
    const { name, canContinueById, unsupported, nativeToolHistory, canCompact, keyVariable } = profile
    const [, row = ''] = new RegExp(`^\\| \`${name}\` \\|[^|]+\\|(.+)$`, 'mu').exec(page) ?? []
    const [byId, refused, earlierCalls, compacts, key] = row.split('|').map((cell) => cell.trim())
    expect([name, byId, refused, earlierCalls, compacts]).toEqual([
      name,
      words.get(canContinueById),
      unsupported.map((field) => `\`${field}\``).join(', '),
      nativeToolHistory ? 'yes' : 'no',
      words.get(canCompact),
    ])
    expect(key).toContain(keyVariable ?? '')
  }
})
