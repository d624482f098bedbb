import { execFileSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { chmodSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Agent, fetch as undiciFetch, request as undiciRequest } from 'undici'
import { expect, test, vi } from 'vitest'

import { cli, makeFolder, saying, startCli } from '../cli/run-cli.ts'
import { openRaw, requestText } from '../server/socket-kit.ts'
import {
  askFor,
  framesOf,
  readStream,
  readUntil,
  readWithCurl,
  startRunAt,
  startServe,
  streamHeaders,
} from './cli-serve-kit.ts'
import { CALL, logOf, place, runsIn, serve, STALLED, writeAgent } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const SCRIPTED = ['--provider', 'scripted'] as const
// A call without an end, in a process that stands still when it is told to stop, until another signal has come.
const NEVER = `(process.on('SIGTERM', () => {
  did('told')
  while (!hasDone('go on')) {}
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
}), { execute: () => (did('launch'), new Promise(() => undefined)) })`

function storeFlag(): readonly ['--store', string] {
  return ['--store', join(makeFolder(), 'runs.db')]
}

test('serve prints two addresses once, the one that may only read first, and nothing else', async () => {
  const serving = startCli(['serve', ...SCRIPTED, ...storeFlag()])
  const { child, done } = serving
  await serving.until('out', /\n.*\n/u)
  await serving.until('err', /serving default/u)
  child.kill('SIGTERM')
  const { code, out, err } = await done
  expect(code).toBe(0)
  const address = String.raw`http://127\.0\.0\.1:(\d+)/inspect#token=([\w-]{43})`
  const [, port, read, otherPort, approve] =
    new RegExp(`^read     ${address}\napprove  ${address}\n$`, 'u').exec(out) ?? []
  expect(port).toBeDefined()
  expect(otherPort).toBe(port)
  expect(read).not.toBe(approve)
  expect(err).toMatch(/^loopchart: serving default; runs are kept in .*runs\.db$/mu)
})

test('a new user without a key starts a run, follows it to its end and reads what it came to', async () => {
  const serving = await startServe([
    ...SCRIPTED,
    ...storeFlag(),
    '--workspace',
    makeFolder({ 'a.md': 'one two' }),
  ])
  const { ask, announced, url } = serving
  expect(announced.agents).toEqual(['default'])
  const runId = await startRunAt(serving, 'How many words?')
  const stream = await readStream(`${url}/runs/${runId}/frames`, announced.tokens?.read ?? '')
  expect(stream).toMatch(/event: end\ndata: \{"reason":"completed".*\}\n\n$/u)
  const frames = framesOf(stream)
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
  expect(frames.at(-1)).toMatchObject({
    type: 'run_ended',
    text: expect.stringContaining('2 words') as string,
  })
  expect((await ask(`/runs/${runId}`)).body).toMatchObject({ state: 'done', status: 'ended' })
})

test('curl, undici and fetch read the same frames, each in order and each once', async () => {
  const serving = await startServe([...SCRIPTED, ...storeFlag()])
  const { url, announced } = serving
  const token = announced.tokens?.read ?? ''
  const address = `${url}/runs/${await startRunAt(serving)}/frames`
  const headers = streamHeaders(token)
  const [byFetch, byCurl, byUndici, byRequest] = await Promise.all([
    readStream(address, token),
    readWithCurl(address, token),
    undiciFetch(address, { headers, dispatcher: new Agent() }).then((response) => response.text()),
    undiciRequest(address, { headers }).then(({ body }) => body.text()),
  ])
  const frames = framesOf(byFetch)
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
  expect(frames.at(-1)?.type).toBe('run_ended')
  for (const other of [byCurl, byUndici, byRequest]) expect(framesOf(other)).toEqual(frames)
})

test('an agent of a module is served under its name, and what needs approval waits for the token that may', async () => {
  const where = place(
    await serve(CALL, saying('Gone.')),
    "{ needsApproval: true, execute: () => 'launched' }",
  )
  const serving = await startServe(where.flags)
  const { url, announced, ask } = serving
  const [read, approve] = [announced.tokens?.read ?? '', announced.tokens?.approve ?? '']
  expect(announced.agents).toEqual(['agent'])
  const runId = await startRunAt(serving)
  const frames = `${url}/runs/${runId}/frames`
  await readUntil(frames, read, /approval_requested/u)
  expect((await askFor(`${url}/runs/${runId}/approve`, read, { call: 'call_7' })).status).toBe(403)
  expect((await askFor(`${url}/runs`, read, { input: 'go' })).status).toBe(403)
  expect((await ask(`/runs/${runId}/approve`, { call: 'call_7' }, approve)).body).toMatchObject({
    answer: 'accepted',
  })
  expect(framesOf(await readStream(frames, read)).at(-1)).toMatchObject({ type: 'run_ended', text: 'Gone.' })
})

test('two modules are two agents, and two of one name are refused', async () => {
  const provider = await serve(saying('One.'))
  const where = place(provider)
  const other = writeAgent(where.folder, 'other.ts', provider, "{ execute: () => '' }")
  const { announced, ask } = await startServe([...where.flags, '--agent', other])
  expect(announced.agents).toEqual(['agent', 'other'])
  expect((await ask('/runs', { input: 'go', agent: 'other' })).status).toBe(201)
  const twice = await cli(['serve', ...where.flags, ...where.flags.slice(0, 2)])
  expect([twice.code, twice.out]).toEqual([2, ''])
  expect(twice.err).toMatch(/two agents would be called agent; .*\[usage\]\n$/u)
})

test('SIGTERM suspends what runs and ends the process within 5 seconds; the next start goes on with it', async () => {
  const where = place(await serve(STALLED, saying('Gone.')))
  const first = await startServe(where.flags)
  const runId = await startRunAt(first)
  const address = `/runs/${runId}/frames`
  const reading = readStream(first.url + address, first.announced.tokens?.read ?? '')
  await readUntil(first.url + address, first.announced.tokens?.read ?? '', /output_text_delta/u)
  const startedMs = performance.now()
  first.child.kill('SIGTERM')
  expect((await first.done).code).toBe(0)
  expect(performance.now() - startedMs).toBeLessThan(5_000)
  expect(await reading).toMatch(/event: closing\n/u)
  expect(runsIn(where)).toMatchObject([{ runId, status: 'open', owner: null }])
  expect(logOf(where, runId).some(({ type }) => type === 'run_ended')).toBe(false)
  const second = await startServe(where.flags)
  await second.until('err', /1 run that had not ended went on/u)
  const frames = framesOf(await readStream(second.url + address, second.announced.tokens?.read ?? ''))
  expect(frames.at(-1)).toMatchObject({ type: 'run_ended', state: 'done', text: 'Gone.' })
  expect(frames).toEqual(logOf(where, runId))
})

test('a second signal ends it at once, and the run can still go on', async () => {
  const where = place(await serve(CALL, saying('Gone.')), NEVER)
  const serving = await startServe(where.flags)
  const runId = await startRunAt(serving)
  const address = `${serving.url}/runs/${runId}/frames`
  await readUntil(address, serving.announced.tokens?.read ?? '', /tool_started/u)
  const effects = join(where.folder, 'effects.txt')
  // A request that has not arrived whole is waited for a little: the first signal has not ended it by the second one.
  const { host, port } = new URL(serving.url)
  const headers = [`Host: ${host}`, `Authorization: Bearer ${serving.announced.tokens?.approve ?? ''}`]
  const more = ['Content-Type: application/json', 'Content-Length: 99', 'Expect: 100-continue']
  const upload = openRaw(Number(port), requestText('POST /runs HTTP/1.1', [...headers, ...more], '{'))
  await upload.until(/100 Continue/u)
  serving.child.kill('SIGTERM')
  await expect.poll(() => readFileSync(effects, 'utf8'), { timeout: 20_000 }).toContain('told')
  serving.child.kill('SIGTERM')
  writeFileSync(effects, 'go on\n', { flag: 'a' })
  expect((await serving.done).code).toBe(6)
  expect(runsIn(where)).toMatchObject([{ runId, status: 'open', owner: null }])
})

test('kill -9 loses nothing that was shown, and the next start goes on with the run', async () => {
  const where = place(await serve(STALLED, saying('Gone.')))
  const first = await startServe(where.flags)
  const runId = await startRunAt(first)
  const address = `/runs/${runId}/frames`
  const token = first.announced.tokens?.read ?? ''
  const seen = framesOf(await readUntil(first.url + address, token, /output_text_delta[^]*\n\n$/u))
  first.child.kill('SIGKILL')
  await first.done
  const second = await startServe(where.flags)
  const frames = framesOf(await readStream(second.url + address, second.announced.tokens?.read ?? ''))
  expect(frames.slice(0, seen.length)).toEqual(seen)
  expect(frames.at(-1)).toMatchObject({ type: 'run_ended', state: 'done', text: 'Gone.' })
})

test('fault S15: where another program has the port, no address is printed and nothing is served', async () => {
  const { url } = await startServe([...SCRIPTED, ...storeFlag()])
  const { port } = new URL(url)
  const { code, out, err } = await cli(['serve', ...SCRIPTED, ...storeFlag(), '--port', port])
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(
    /^loopchart: cannot listen on 127\.0\.0\.1, port \d+: another program has it; .*\[usage\]\n$/mu,
  )
})

test('fault S15: a client sees that the server knows its token before it sends it', async () => {
  const { url, announced } = await startServe([...SCRIPTED, ...storeFlag()])
  const nonce = randomBytes(16).toString('hex')
  const { body } = await askFor(`${url}/healthz?nonce=${nonce}`, '')
  const proofs = Object.values(announced.tokens ?? {}).map((token) =>
    createHmac('sha256', token).update(nonce).digest('hex'),
  )
  expect(body['proofs']).toEqual(expect.arrayContaining(proofs))
  expect(JSON.stringify(body)).not.toContain(announced.tokens?.read)
})

test('a run that another process drives is left to it, and whoever asks is told who that is', async () => {
  const where = place(await serve(STALLED))
  const first = await startServe(where.flags)
  const runId = await startRunAt(first)
  await readUntil(
    `${first.url}/runs/${runId}/frames`,
    first.announced.tokens?.read ?? '',
    /output_text_delta/u,
  )
  const second = await startServe(where.flags)
  expect((await second.ask(`/runs/${runId}`)).body).toMatchObject({ status: 'elsewhere' })
  const { status, body } = await second.ask(`/runs/${runId}/cancel`, {})
  expect([status, body]).toMatchObject([409, { owner: { pid: first.child.pid } }])
  expect((await first.ask(`/runs/${runId}/cancel`, {})).status).toBe(200)
})

test('a store that cannot be used is said before anything is served', async () => {
  const folder = makeFolder({ file: '' })
  const { code, out, err } = await cli(['serve', ...SCRIPTED, '--store', join(folder, 'file', 'runs.db')])
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/\[store_unusable\]\n$/u)
})

test('a token file is made for its owner alone, and holds the same tokens at the next start', async () => {
  const file = join(makeFolder(), 'tokens')
  const args = [...SCRIPTED, ...storeFlag(), '--token-file', file]
  const first = await startServe(args)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const text = readFileSync(file, 'utf8')
  const [, read = '', approve = ''] = /^#.*\nread ([\w-]{43})\napprove ([\w-]{43})\n$/u.exec(text) ?? []
  // What is printed elsewhere than on a terminal may be kept by somebody.
  expect(first.announced).toMatchObject({ tokens: null, pages: null, token_file: file })
  expect((await first.ask('/access', undefined, read)).body).toMatchObject({ scopes: ['read'] })
  first.child.kill('SIGINT')
  expect((await first.done).code).toBe(0)
  const { ask, child, done } = await startServe(args)
  expect((await ask('/access', undefined, approve)).body['scopes']).toContain('approve')
  expect(readFileSync(file, 'utf8')).toBe(text)
  child.kill('SIGTERM')
  const { out, err } = await done
  for (const token of [read, approve]) expect(out + err).not.toContain(token)
})

test('a token file that others may read is refused, and nothing of it is shown', async () => {
  const text = 'read 0123456789012345678901234567\n'
  const file = join(makeFolder({ tokens: text }), 'tokens')
  chmodSync(file, 0o644)
  const { code, out, err } = await cli(['serve', ...SCRIPTED, ...storeFlag(), '--token-file', file])
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(
    /^loopchart: the token file .* is open to others \(mode 644\); chmod 600 .*\[usage\]\n$/u,
  )
  expect(err).not.toContain('0123456789')
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test('fault S14: no token is in the arguments or the environment of any process, in a log, or in any file but its own', async () => {
  const state = makeFolder()
  const [, store] = storeFlag()
  const logFile = join(state, 'log')
  const where = {
    cwd: makeFolder(),
    env: { XDG_STATE_HOME: state, LOOPCHART_LOG_LEVEL: 'trace', LOOPCHART_LOG_FILE: logFile },
  }
  const serving = await startServe([...SCRIPTED, '--store', store], where)
  const { announced, child, done } = serving
  const tokens = Object.values(announced.tokens ?? {})
  // It is sent by a client, also in places where it does not belong.
  const runId = await startRunAt(serving, `keep ${tokens.join(' and ')} to yourself`)
  const stream = await readStream(`${serving.url}/runs/${runId}/frames`, tokens[0] ?? '')
  await fetch(`${serving.url}/runs?q=${tokens[0] ?? ''}`)
  await fetch(`${serving.url}/runs/${tokens[1] ?? ''}`, { headers: { referer: tokens[1] ?? '' } })
  const processes = execFileSync('ps', ['-ewwo', 'args'], { encoding: 'utf8' })
  const environment = readFileSync(`/proc/${child.pid ?? 0}/environ`, 'utf8')
  child.kill('SIGTERM')
  const { out, err } = await done
  const kept = globSync('**/*', { cwd: state, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  for (const token of tokens) {
    expect(out.split(token)).toHaveLength(3)
    for (const place of [err, processes, environment, stream, ...kept]) expect(place).not.toContain(token)
  }
})

test.for(['0.0.0.0', '::'])(
  'fault S17: --host %s is refused unless others are let in and a token file is named',
  async (host) => {
    const { code, out, err } = await cli([
      'serve',
      ...SCRIPTED,
      ...storeFlag(),
      '--host',
      host,
      '--allow-remote',
    ])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(
      `--host ${host} lets others reach the service, over plain HTTP; that needs --allow-remote`,
    )
  },
)

test.for([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
] as const)(
  'fault S17: --host %s with both is served, with a warning, and a foreign Host is not',
  async ([host, name]) => {
    const file = join(makeFolder(), 'tokens')
    const args = [...SCRIPTED, ...storeFlag(), '--host', host, '--allow-remote', '--token-file', file]
    const serving = await startServe(args)
    const { url } = serving
    const { port } = new URL(url)
    expect(url).toBe(`http://${name}:${port}`)
    await serving.until('err', /others can reach .*plain HTTP: .*TLS/u)
    expect((await askFor(`${url}/healthz`, '')).status).toBe(200)
    const foreign = requestText('GET /healthz HTTP/1.1', ['Host: attacker.example', 'Connection: close'])
    expect(await openRaw(Number(port), foreign, name.replaceAll(/[[\]]/gu, '')).closed).toMatch(
      /^HTTP\/1\.1 421 /u,
    )
  },
)

test('a name that --allow-host gives is let in beside those of this machine', async () => {
  const { url } = await startServe([...SCRIPTED, ...storeFlag(), '--allow-host', 'agents.example'])
  const port = Number(new URL(url).port)
  const answers = ['agents.example', 'other.example', `localhost:${port}`].map(
    (host) =>
      openRaw(port, requestText('GET /healthz HTTP/1.1', [`Host: ${host}`, 'Connection: close'])).closed,
  )
  const statuses = (await Promise.all(answers)).map((answer) => answer.slice(9, 12))
  expect(statuses).toEqual(['200', '421', '200'])
})

test('with the scripted provider no connection leaves this machine', async () => {
  const folder = makeFolder()
  const [hooks, seen] = [join(folder, 'hooks.mjs'), join(folder, 'seen.txt')]
  writeFileSync(
    hooks,
    `import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'
import dns from 'node:dns'
const note = (what) => appendFileSync(${JSON.stringify(seen)}, what + '\\n')
const { connect } = Socket.prototype
Socket.prototype.connect = function (...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args
  note('connect ' + (first.host ?? first.path ?? first))
  return connect.apply(this, args)
}
const { lookup } = dns
dns.lookup = (name, ...rest) => (note('lookup ' + name), lookup(name, ...rest))
`,
  )
  const serving = await startServe([...SCRIPTED, ...storeFlag()], {
    env: { NODE_OPTIONS: `--import=${hooks}` },
  })
  await readStream(
    `${serving.url}/runs/${await startRunAt(serving)}/frames`,
    serving.announced.tokens?.read ?? '',
  )
  await fetch(`${serving.url}/inspect`)
  const places = new Set(readFileSync(seen, 'utf8').trimEnd().split('\n'))
  expect([...places].toSorted()).toEqual(['connect 127.0.0.1', 'lookup 127.0.0.1'])
})
