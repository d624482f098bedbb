import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { cli, makeFolder, ROOT, saying, scriptFile, startCli } from '../cli/run-cli.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const VERBS = [
  'run',
  'chat',
  'conversations|chats',
  'demo',
  'mock',
  'diagram',
  'models',
  'doctor',
  'decode',
] as const
const STORE_VERBS = [
  'resume',
  'fork',
  'runs',
  'replay',
  'diff',
  'explain',
  'serve',
  'inspect',
  'trust',
] as const

test('help lists every verb that there is, and the help of a verb its flags', async () => {
  const { code, out, err } = await cli(['--help'])
  expect([code, err]).toEqual([0, ''])
  const verbs = [...out.matchAll(/^ {2}([a-z|]+) .*$/gmu)].map(([, verb]) => verb)
  expect(verbs).toEqual([...VERBS, ...STORE_VERBS])
  const run = await cli(['run', '--help'])
  expect([run.code, run.err]).toEqual([0, ''])
  expect(run.out).toContain('--approve')
  expect(run.out).not.toMatch(/--resume/u)
})

test('demo shows a run of three turns and three commands to try, without a terminal too', async () => {
  const { code, out, err } = await cli(['demo'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain(
    '\nmodel scripted-1, tools read_file, read, list_dir, ls, glob, grep, artifact_fetch\n',
  )
  expect(out.match(/^turn \d: /gmu)).toEqual(['turn 1: ', 'turn 2: ', 'turn 3: '])
  expect(out).toContain('done (completed): 3 turns, 3 calls')
  expect(out.match(/^ {2}loopchart /gmu)).toHaveLength(3)
})

test('mock serves a script, prints its address and one line a request, and ends on SIGINT', async () => {
  const running = startCli(['mock', '--script', scriptFile(saying('From the mock.'))])
  const url = (await running.until('out', /\n/u)).trim()
  const { out } = await cli(['run', 'hi', '--base-url', url, '--model', 'any'])
  expect(out).toBe('From the mock.\n')
  await running.until('out', /POST .*\n/u)
  await fetch(`${url}/responses/compact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'any', input: 'hi' }),
  })
  await running.until('out', /compact .*\n/u)
  running.child.kill('SIGINT')
  const mock = await running.done
  expect([mock.code, mock.err]).toEqual([0, ''])
  expect(mock.out).toBe(
    `${url}\nPOST /v1/responses  model any, 1 item, streamed\nPOST /v1/responses/compact  model any, a text\n`,
  )
})

test('diagram prints the chart that the docs show, as SCXML, as JSON, and as a tree', async () => {
  const mermaid = await cli(['diagram'])
  expect(mermaid.out).toBe(readFileSync(join(ROOT, 'docs/loop.mmd'), 'utf8'))
  const svg = await cli(['diagram', '--format', 'svg'])
  expect(svg.out).toBe(readFileSync(join(ROOT, 'docs/loop.svg'), 'utf8'))
  const scxml = await cli(['diagram', '--format', 'scxml'])
  expect(scxml.out).toContain(
    '<state id="working.responding.streaming" loopchart:doc="Events are coming in."/>',
  )
  const json = await cli(['diagram', '--format', 'json'])
  expect(JSON.parse(json.out)).toMatchObject({ key: 'loop', states: expect.any(Array) })
  const { out } = await cli(['diagram', '--format', 'ascii'])
  expect(out).toContain(
    '|   |-- requesting (initial)\n|   |   |       stream.opened -> working.responding.streaming\n',
  )
  expect(out).toContain('`-- cancelled (final)\n')
})

test('models lists what the provider offers', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [] })
  const { code, out } = await cli(['models', '--base-url', provider.url])
  const json = await cli(['models', '--base-url', provider.url, '--json'])
  await provider.close()
  expect([code, out]).toEqual([0, 'scripted-1  (loopchart)\n'])
  expect(JSON.parse(json.out)).toEqual([{ id: 'scripted-1', ownedBy: 'loopchart' }])
})

test('names of models that a terminal would obey are shown escaped, as JSON too', async () => {
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ data: [{ id: 'a\u009b31m', owned_by: '\u202eb' }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const plain = await cli(['models', '--base-url', url])
  const json = await cli(['models', '--base-url', url, '--json'])
  server.close()
  expect(plain.out + json.out).not.toMatch(/[\u0080-\u009f\u202e]/u)
  expect(JSON.parse(json.out)).toEqual([{ id: 'a\u009b31m', ownedBy: '\u202eb' }])
})

test('models of a provider that is not there is one line on stderr and exit code 4', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [] })
  await provider.close()
  const { code, out, err } = await cli(['models', '--base-url', provider.url])
  expect([code, out]).toEqual([4, ''])
  expect(err).toMatch(/^loopchart: .*\[connect_failed\]\n$/u)
})

test('doctor shows what is set and by what, and never the key', async () => {
  const key = 'sk-very-secret-0123456789'
  const envFile = join(makeFolder({ '.env': `OPENAI_API_KEY=${key}\nLOOPCHART_VERBOSITY=low\n` }), '.env')
  const base = `https://someone:${key}@host.example/v1?token=${key}`
  const args = ['doctor', '--env-file', envFile, '--model', 'm']
  const env = { OPENAI_BASE_URL: base }
  const { code, out, err } = await cli(args, { env })
  const json = await cli([...args, '--json'], { env })
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^api_key +\[redacted\], 25 characters +OPENAI_API_KEY$/mu)
  expect(out).toMatch(/^model +m +--model$/mu)
  expect(out).toMatch(/^verbosity +low +LOOPCHART_VERBOSITY in .*\.env$/mu)
  expect(out).toMatch(/^continuity +previous_response_id +default$/mu)
  expect(out + json.out).not.toContain('very-secret')
  const { settings, findings } = JSON.parse(json.out) as { settings: unknown[]; findings: unknown }
  expect(settings).toContainEqual({
    setting: 'verbosity',
    value: 'low',
    source: `LOOPCHART_VERBOSITY in ${envFile}`,
  })
  expect(findings).toBe(null)
})

interface Findings {
  readonly findings: readonly { readonly topic: string; readonly verdict: string; readonly detail: string }[]
}

const CALL = { type: 'function_call', name: 'get_weather', arguments: { city: 'Oslo' } } as const

test('doctor finds nothing wrong with a provider that keeps to the specification', async () => {
  const provider = await startScriptedProvider((request) =>
    request.tools?.length && !request.previous_response_id ? { output: [CALL] } : saying('Hello.'),
  )
  const { code, out } = await cli(['doctor', '--base-url', provider.url, '--model', 'm', '--json'])
  await provider.close()
  expect(code).toBe(0)
  const { findings } = JSON.parse(out) as Findings
  expect(findings.filter(({ verdict }) => verdict !== 'as specified')).toEqual([])
  expect(findings.map(({ topic }) => topic)).toContain('compact')
  expect([provider.requests.length, provider.compactRequests.length]).toEqual([6, 1])
})

test('doctor tells how a provider departs: events, order, numbers, deltas, ids, the end, refusals', async () => {
  const odd = readFileSync(join(ROOT, 'fixtures/streams/sequence-anomalies.sse'), 'utf8')
  const differing = readFileSync(join(ROOT, 'fixtures/streams/text-delta-done-differ.sse'), 'utf8')
  const ids = readFileSync(join(ROOT, 'fixtures/streams/response-id-changes.sse'), 'utf8')
  const text = `${odd}${differing}`.replaceAll('data: [DONE]\n\n', '')
  const provider = await startScriptedProvider((request) => {
    if (request.stream !== true)
      return { fault: { type: 'raw', text: '{"object":"response"}', content_type: 'application/json' } }
    return { fault: { type: 'raw', text: request.tools?.length ? ids : text } }
  })
  const { code, out } = await cli(['doctor', '--base-url', provider.url, '--model', 'm'])
  await provider.close()
  expect(code).toBe(0)
  for (const topic of ['sequence numbers', 'ids', String.raw`\[DONE\]`, 'whole answer', 'tool call']) {
    expect(out).toMatch(new RegExp(`^${topic} +departs`, 'mu'))
  }
  expect(out).toMatch(/^sequence numbers +departs +sequence_/mu)
  expect(out).toMatch(/^previous_response_id +not seen/mu)
})

test('doctor says in one line why a provider cannot be probed', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [{ fault: { type: 'status', status: 401 } }] })
  const { code, err } = await cli(['doctor', '--base-url', provider.url, '--model', 'm'])
  await provider.close()
  expect(code).toBe(4)
  expect(err).toMatch(/^loopchart: .*answered 401.*\[key_refused\]\n$/u)
})

test('help and version load neither the logger nor the loop', async () => {
  const hooks = join(
    makeFolder({
      'hooks.mjs': `import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
registerHooks({ load: (url, context, next) => (/pino|xstate|zod|ajv|src.loop/.test(url) && writeSync(2, url + '\\n'), next(url, context)) })`,
    }),
    'hooks.mjs',
  )
  for (const args of [['--version'], ['--help'], ['run', '--help']]) {
    const { code, err } = await cli(args, { env: { NODE_OPTIONS: `--import=${hooks}` } })
    expect([code, err]).toEqual([0, ''])
  }
})

test('doctor does not say of what was not answered that it departs or is not supported', async () => {
  let requests = 0
  const provider = await startScriptedProvider((request) => {
    requests += 1
    if (requests > 3) return { fault: { type: 'status', status: 429 } }
    return request.tools?.length ? { output: [CALL] } : saying('Hello.')
  })
  const { out } = await cli(['doctor', '--base-url', provider.url, '--model', 'm', '--json'])
  await provider.close()
  const { findings } = JSON.parse(out) as Findings
  const verdicts = Object.fromEntries(findings.map(({ topic, verdict }) => [topic, verdict]))
  expect(verdicts).toMatchObject({ previous_response_id: 'no answer', 'unanswered call': 'not seen' })
})

test('doctor shows how a conversation is carried on with this provider when nothing is set', async () => {
  const { out } = await cli(['doctor'], { env: { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' } })
  expect(out).toMatch(/^continuity +stateless +default$/mu)
})
