import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { cli, framesIn, makeFolder, saying, scriptFile } from '../cli/run-cli.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const KEY = 'sk-proj-Zx81kQ_very-secret-T0ken99'
const TOKEN = 'ghp_another+secret/0123456789'

/** A model that says the key in pieces, in a call, in its reasoning and whole. */
const LEAKING: readonly ScriptTurn[] = [
  {
    output: [
      { type: 'reasoning', summary: ['I know ', KEY.slice(0, 9), KEY.slice(9)] },
      {
        type: 'message',
        text: [`It is ${KEY.slice(0, 12)}`, KEY.slice(12, 20), `${KEY.slice(20)}, and ${TOKEN}.`],
      },
      { type: 'function_call', name: 'read_file', arguments: { path: KEY, token: TOKEN } },
    ],
  },
  saying(`Again: ${KEY}`),
]

function leaked(text: string): readonly string[] {
  return [KEY, TOKEN, KEY.slice(0, 17), encodeURIComponent(TOKEN)].filter((secret) => text.includes(secret))
}

/** Every text that comes in pieces, put together again. */
function joinedDeltas(frames: readonly Frame[]): string {
  const texts = frames.flatMap((frame) => {
    if ('delta' in frame) return [[frame.type, frame.delta]]
    if (frame.type !== 'provider_event' || frame.status !== 'event') return []
    const { type, delta } = JSON.parse(frame.raw ?? '{}') as { type: string; delta?: string }
    return [[type, delta ?? '']]
  })
  return [...Map.groupBy(texts, ([type]) => type).values()]
    .map((of) => of.map(([, text]) => text).join(''))
    .join('\n')
}

test.for(['silent', 'error', 'warn', 'info', 'debug', 'trace'])(
  'no frame, no line and no log at level %s has a secret in it, also one that comes in pieces',
  async (level) => {
    const logFile = join(makeFolder(), 'log')
    const args = [
      'run',
      `my key is ${KEY}`,
      '--provider',
      'scripted',
      '--script',
      scriptFile(...LEAKING),
      '--tools',
      'none',
      '--json',
    ]
    const env = { OPENAI_API_KEY: KEY, GITHUB_TOKEN: TOKEN }
    const { code, out, err } = await cli([...args, '--log-level', level, '--log-file', logFile], { env })
    const log = existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''
    expect(code).toBe(0)
    expect(leaked(out + err + log)).toEqual([])
    const frames = framesIn(out)
    expect(leaked(joinedDeltas(frames))).toEqual([])
    expect(joinedDeltas(frames)).toContain('It is [redacted], and [redacted].')
    expect(frames.filter((frame) => 'redacted' in frame).length).toBeGreaterThan(10)
    expect(err).toMatch(/^loopchart: secrets were masked as \[redacted\] in \d+ places of what was shown\n$/u)
    expect(log === '').toBe(level === 'silent' || level === 'error')
  },
)

test('what people see has no secret in it either', async () => {
  const env = { OPENAI_API_KEY: KEY, GITHUB_TOKEN: TOKEN }
  const script = scriptFile(...LEAKING)
  const { out, err } = await cli(
    ['run', 'hi', '--provider', 'scripted', '--script', script, '--log-level', 'info'],
    { env },
  )
  expect(leaked(out + err)).toEqual([])
  expect(out).toContain('It is [redacted], and [redacted].\nAgain: [redacted]\n')
})

test('the log tells requests, calls and tokens, the shape of outputs at debug, and payloads only at trace', async () => {
  const turns: readonly ScriptTurn[] = [
    { output: [{ type: 'function_call', name: 'list_dir', arguments: {} }] },
    saying('A payload that is Bearer abcdef0123456789 for all.'),
  ]
  const logs = new Map<string, string>()
  for (const level of ['info', 'debug', 'trace']) {
    const logFile = join(makeFolder(), 'log')
    const args = ['run', 'hi', '--provider', 'scripted', '--script', scriptFile(...turns)]
    await cli([...args, '--log-level', level, '--log-file', logFile])
    logs.set(level, readFileSync(logFile, 'utf8'))
    expect(statSync(logFile).mode & 0o777).toBe(0o600)
  }
  const entries = (logs.get('info') ?? '')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string })
  expect(entries.map(({ msg }) => msg)).toEqual([
    'run started',
    'request sent',
    'response settled',
    'tool started',
    'tool ended',
    'request sent',
    'response settled',
    'run ended',
  ])
  expect(entries.at(-1)).toMatchObject({ state: 'done', usage: { total_tokens: expect.any(Number) } })
  expect(logs.get('debug')).toContain('"output":[{"type":"message"')
  expect(logs.get('debug')).toContain('"text":"text of 50"')
  expect(logs.get('debug')).not.toContain('A payload')
  expect(logs.get('trace')).toContain('A payload')
  expect(logs.get('trace')).not.toContain('abcdef0123456789')
})

test('a run without secrets says nothing about masking', async () => {
  const { err } = await cli([
    'run',
    'hi',
    '--provider',
    'scripted',
    '--script',
    scriptFile(saying('Hello.')),
    '--tools',
    'none',
    '--json',
  ])
  expect(err).toBe('')
})
