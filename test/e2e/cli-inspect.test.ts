import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'

import { createInspectorServer } from '@statelyai/inspect/server'
import { expect, onTestFinished, test, vi } from 'vitest'

import { agent } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { inspectionOf } from '../../src/inspect/inspection.ts'
import { run } from '../../src/loop/run.ts'
import { callsAnswer, scriptedModel, textAnswer, watchedTool } from '../scripted-model.ts'
import { cli, makeFolder, startCli, type CliOptions, type RunningCli } from '../cli/run-cli.ts'
import { askFor, framesOf, readStream, readUntil } from './cli-serve-kit.ts'
import { CALL, fileOf, logOf, makeLog, onlyRun, place, serve, STALLED, storeOf } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

interface Inspecting extends RunningCli {
  readonly url: string
  readonly page: string
  readonly token: string
  readonly run_id: string
}

async function startInspect(args: readonly string[], options: CliOptions = {}): Promise<Inspecting> {
  const running = startCli(['inspect', '--json', ...args], options)
  return {
    ...running,
    ...(JSON.parse(await running.until('out', /\n$/u)) as Omit<Inspecting, keyof RunningCli>),
  }
}

test('inspect prints one address, with a token that can read and do nothing else', async () => {
  const file = fileOf(await makeLog('run-1'))
  const inspecting = startCli(['inspect', file])
  const { child, done } = inspecting
  const out = await inspecting.until('out', /\n$/u)
  const [, url = '', token = ''] =
    /^(http:\/\/127\.0\.0\.1:\d+)\/inspect#token=([\w-]{43})&run=run-1\n$/u.exec(out) ?? []
  expect((await askFor(`${url}/access`, token)).body).toMatchObject({ scopes: ['read'] })
  expect((await askFor(`${url}/runs`, token, { input: 'go' })).status).toBe(403)
  expect((await askFor(`${url}/runs/run-1/cancel`, token, {})).status).toBe(403)
  child.kill('SIGINT')
  expect(await done).toMatchObject({ code: 0, out, err: '' })
})

test('the page of a file has every frame of it, and nothing of it stays on the disk', async () => {
  const frames = await makeLog('run-1')
  const temporary = makeFolder()
  const { url, token, run_id, child, done } = await startInspect([fileOf(frames)], {
    env: { TMPDIR: temporary },
  })
  expect(run_id).toBe('run-1')
  expect(framesOf(await readStream(`${url}/runs/run-1/frames`, token))).toEqual(frames)
  expect((await askFor(`${url}/runs/run-1`, token)).body).toMatchObject({ state: 'done', status: 'ended' })
  const folders = readdirSync(temporary).filter((name) => name.startsWith('loopchart-log-'))
  expect(folders.map((folder) => statSync(join(temporary, folder)).mode & 0o777)).toEqual([0o700])
  child.kill('SIGTERM')
  expect((await done).code).toBe(0)
  expect(readdirSync(temporary).filter((name) => name.startsWith('loopchart'))).toEqual([])
})

test('a log can come through standard input', async () => {
  const frames = await makeLog('run-1')
  const input = readFileSync(fileOf(frames), 'utf8')
  const { url, token } = await startInspect(['-'], { input })
  expect(framesOf(await readStream(`${url}/runs/run-1/frames`, token))).toEqual(frames)
})

test('a stored run is found by the beginning of its id, beside those that it can be compared with', async () => {
  const store = storeOf(await makeLog('abc-1'), await makeLog('xyz-1', 'lost'))
  const { url, token, page } = await startInspect(['ab', '--store', store])
  expect(page).toMatch(/&run=abc-1$/u)
  expect((await askFor(`${url}/diff?a=abc-1&b=xyz-1`, token)).body).toMatchObject({ is_same: false })
})

test('a run that another process drives is followed to its end', async () => {
  const where = place(await serve(STALLED))
  const driving = startCli(['run', 'go', ...where.flags])
  await driving.until('out', /Wait/u)
  const runId = onlyRun(where)
  const { url, token } = await startInspect([runId, '--store', where.store])
  const address = `${url}/runs/${runId}/frames`
  await readUntil(address, token, /output_text_delta/u)
  expect((await askFor(`${url}/runs/${runId}`, token)).body).toMatchObject({ status: 'elsewhere' })
  const reading = readStream(address, token)
  driving.child.kill('SIGINT')
  expect(framesOf(await reading)).toEqual(logOf(where, runId))
})

test('--ndjson writes the inspection events of a log to a file of its owner, and ends', async () => {
  const frames = await makeLog('run-1')
  const file = join(makeFolder(), 'events.ndjson')
  const { code, out, err } = await cli(['inspect', fileOf(frames), '--ndjson', file])
  expect([code, out, err]).toEqual([0, '', ''])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(parseLines(readFileSync(file, 'utf8'))).toEqual(asJson([...inspectionOf(frames)]))
})

test('--ndjson - prints them, and follows a run that another process drives', async () => {
  const where = place(await serve(STALLED))
  const driving = startCli(['run', 'go', ...where.flags])
  await driving.until('out', /Wait/u)
  const runId = onlyRun(where)
  const following = startCli(['inspect', runId, '--store', where.store, '--ndjson', '-'])
  await following.until('out', /"streaming"/u)
  driving.child.kill('SIGINT')
  const { code, out } = await following.done
  expect(code).toBe(0)
  expect(parseLines(out)).toEqual(asJson([...inspectionOf(logOf(where, runId))]))
})

test('--ndjson of a run that was suspended ends with what there is', async () => {
  const where = place(await serve(CALL), "{ needsApproval: true, execute: () => '' }")
  expect((await cli(['run', 'go', ...where.flags])).code).toBe(5)
  const { code, out } = await cli(['inspect', onlyRun(where), '--store', where.store, '--ndjson', '-'])
  expect(code).toBe(0)
  expect(out).toContain('awaitingApproval')
})

test('--stately sends them to a server of @statelyai/inspect, and says first that they reach a hosted page', async () => {
  const frames = await makeLog('run-1')
  const port = await freePort()
  const server = createInspectorServer({ port, autoOpen: false })
  onTestFinished(() => server.stop())
  const viewer = new WebSocket(`ws://127.0.0.1:${port}`)
  onTestFinished(() => viewer.close())
  const seen: unknown[] = []
  viewer.addEventListener('message', ({ data }) => void seen.push(JSON.parse(String(data))))
  await once(viewer, 'open')
  const sending = startCli(['inspect', fileOf(frames), '--stately', `ws://127.0.0.1:${port}`])
  const { child, done } = sending
  await sending.until('err', /page that somebody else hosts/u)
  const expected = [...inspectionOf(frames)].filter(({ type }) => type !== '@loopchart.microstep')
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(expected.length)
  expect(seen).toEqual(asJson(expected))
  child.kill('SIGTERM')
  expect(await done).toMatchObject({ code: 0, out: '' })
})

test('--stately waits for a server that comes later, and sends it a long log from its first event on', async () => {
  const turns = Array.from({ length: 40 }, (_, at) => callsAnswer(at + 1, [['look', `{"at":${at}}`]]))
  const { tool } = watchedTool('look', () => 'seen')
  const model = scriptedModel([...turns, textAnswer(41, 'done')])
  const long: Frame[] = []
  for await (const frame of run(agent({ model, tools: [tool], limits: { toolCalls: 50 } }), 'go'))
    long.push(frame)
  const expected = [...inspectionOf(long)].filter(({ type }) => type !== '@loopchart.microstep')
  expect(expected.length).toBeGreaterThan(220)
  const port = await freePort()
  const sending = startCli(['inspect', fileOf(long), '--stately', `ws://127.0.0.1:${port}`])
  await sending.until('err', /no connection to/u)
  const server = createInspectorServer({ port, autoOpen: false })
  onTestFinished(() => server.stop())
  const viewer = new WebSocket(`ws://127.0.0.1:${port}`)
  onTestFinished(() => viewer.close())
  const seen: unknown[] = []
  viewer.addEventListener('message', ({ data }) => void seen.push(JSON.parse(String(data))))
  await once(viewer, 'open')
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(expected.length)
  expect(seen).toEqual(asJson(expected))
  sending.child.kill('SIGTERM')
  expect(await sending.done).toMatchObject({ code: 0 })
})

test('fault S16: a secret of this machine is in nothing that inspect shows', async () => {
  const secret = 'sk-proj-Zx81kQ_very-secret-T0ken99'
  const file = fileOf(await makeLog('run-1', `the key is ${secret}`))
  const options = { env: { OPENAI_API_KEY: secret } }
  const { url, token } = await startInspect([file], options)
  const stream = await readStream(`${url}/runs/run-1/frames`, token)
  const { out } = await cli(['inspect', file, '--ndjson', '-'], options)
  for (const text of [stream, out]) {
    expect(text).toContain('the key is [redacted]')
    expect(text).not.toContain(secret)
  }
})

test('what is neither a file nor a run is one line with a code, and no address', async () => {
  const store = storeOf(await makeLog('abc-1'))
  const { code, out, err } = await cli(['inspect', 'no-such', '--store', store])
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^loopchart: "no-such" is neither a file nor a run of .* \[run_unknown\]\n$/u)
})

function parseLines(text: string): readonly unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
