import { join } from 'node:path'

import { beforeEach, expect, test, vi } from 'vitest'

import { createProgram } from '../../src/cli/program.ts'
import { fileOf, makeLog, storeOf } from '../e2e/cli-store-kit.ts'
import { makeFolder } from './run-cli.ts'

beforeEach(() => {
  vi.stubEnv('XDG_CONFIG_HOME', '/nowhere')
  vi.stubEnv('XDG_STATE_HOME', makeFolder())
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'LOOPCHART_MODEL', 'LOOPCHART_STORE']) {
    vi.stubEnv(name, '')
  }
  return () => vi.unstubAllEnvs()
})

const SCRIPTED = ['--provider', 'scripted'] as const

function parse(args: readonly string[]): Promise<unknown> {
  return createProgram('0', 'loopchart', () => undefined).parseAsync([...args], { from: 'user' })
}

test.for([
  ['serve without a provider', ['serve'], 'provider_missing', /there is no provider.*--provider scripted/u],
  ['another provider', ['serve', '--provider', 'openai'], 'usage', /must be scripted/u],
  ['a model beside --agent', ['serve', '--agent', 'a.ts', '--model', 'm'], 'usage', /--model has no effect/u],
  ['an agent that is not there', ['serve', '--agent', 'no.ts'], 'file_unreadable', /the agent of no\.ts/u],
  ['a port that is none', ['serve', ...SCRIPTED, '--port', 'http'], 'usage', /--port must be a number/u],
  ['a host for others', ['serve', ...SCRIPTED, '--host', '0.0.0.0'], 'usage', /needs --allow-remote/u],
  [
    '--allow-remote for nobody',
    ['serve', ...SCRIPTED, '--allow-remote'],
    'usage',
    /has no effect with --host/u,
  ],
  [
    'a URL as a host',
    ['serve', ...SCRIPTED, '--allow-host', 'https://agents.example'],
    'usage',
    /as in the Host header, such as agents\.example/u,
  ],
  ['a store without a name', ['serve', ...SCRIPTED, '--store', ''], 'usage', /a file must have a name/u],
  [
    'nothing of that name',
    ['inspect', 'no-such'],
    'file_unreadable',
    /there is no file no-such, and there is no/u,
  ],
  [
    'a file that is no log',
    ['inspect', 'package.json'],
    'frame_invalid',
    /package\.json is not a log that is whole: frame 0: .* \(the line is not JSON\)$/u,
  ],
  ['a page on no port', ['inspect', 'package.json', '--port', 'x'], 'usage', /--port must be a number/u],
  [
    'a port without a page',
    ['inspect', 'x', '--port', '0', '--ndjson', '-'],
    'usage',
    /--port is about the page/u,
  ],
  ['JSON without a page', ['inspect', 'x', '--json', '--ndjson', '-'], 'usage', /--json is about the page/u],
  ['a file without a name', ['inspect', 'x', '--ndjson', ''], 'usage', /a file must have a name/u],
  [
    'an inspector that is no address',
    ['inspect', 'x', '--stately', 'http://x'],
    'usage',
    /ws:\/\/ or wss:\/\//u,
  ],
] as const)('%s is refused with a code and what to do', async ([, args, code, message]) => {
  await expect(parse(args)).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string })
})

test('a log that is damaged in its middle is refused by its name', async () => {
  const file = fileOf((await makeLog('run-1')).filter(({ seq }) => seq !== 5))
  const message = `${file} is not a log that is whole: frame 5: it is missing`
  await expect(parse(['inspect', file])).rejects.toMatchObject({ code: 'log_corrupt', message })
})

test('an event file that cannot be written is refused', async () => {
  const store = storeOf(await makeLog('run-1'))
  const file = join(makeFolder(), 'no', 'events')
  const asked = parse(['inspect', 'run-1', '--store', store, '--ndjson', file])
  await expect(asked).rejects.toMatchObject({ code: 'output_unwritable' })
})
