import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, onTestFinished, test } from 'vitest'

import { listen, portOf, startHttpRun, TEXT } from './fake-provider.ts'
import { CERTIFICATE } from './test-certificate.ts'
import { finishRun } from '../scripted-model.ts'

interface SecureProvider {
  readonly baseUrl: string
  /** How many connections there were, and how many of them went on with what an earlier one had agreed on. */
  readonly connections: { readonly opened: number; readonly resumed: number }
  readonly requests: () => number
}

/** Answers with an event stream, or with many copies of the one letter that is the body, a few at a time. */
async function secureProvider(): Promise<SecureProvider> {
  const connections = { opened: 0, resumed: 0 }
  let requests = 0
  const server = createServer({ ...CERTIFICATE, keepAliveTimeout: 300_000 }, (request, response) => {
    requests += 1
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (body.length > 1) return void response.end(TEXT)
      let left = 200
      const more = (): void => {
        left -= 1
        if (left === 0) response.end()
        else response.write(body.repeat(left * 13), () => setImmediate(more))
      }
      more()
    })
  })
  server.on('secureConnection', (socket) => {
    connections.opened += 1
    if (socket.isSessionReused()) connections.resumed += 1
  })
  await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    baseUrl: `https://127.0.0.1:${portOf(server)}/v1`,
    connections,
    requests: () => requests,
  }
}

const SOURCES = new URL('../../src/', import.meta.url).href

/** Runs code in a process that trusts the certificate of the tests, and gives back what it printed. */
async function trusting(baseUrl: string, code: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-tls-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'trusted.pem')
  writeFileSync(file, CERTIFICATE.cert)
  const script = `
    const { openResponses } = await import('${SOURCES}provider/open-responses.ts')
    const model = openResponses({ model: 'm-1', apiKey: '', baseUrl: '${baseUrl}' })
    const send = async (body) => {
      let text = ''
      const fault = await model.send({
        body,
        idempotencyKey: 'k',
        signal: new AbortController().signal,
        onHead: () => undefined,
        onChunk: (chunk) => (text += Buffer.from(chunk).toString('latin1')).length > 0,
      })
      return fault?.message ?? text
    }
    ${code}
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: file },
    timeout: 50_000,
  })
  return JSON.parse(stdout)
}

test('a run over TLS ends well, and the process with it', async () => {
  const provider = await secureProvider()
  const code = `
    const { agent } = await import('${SOURCES}agent.ts')
    const { run } = await import('${SOURCES}loop/run.ts')
    const { state, text } = await run(agent({ model }), 'what is 2+3?').result
    console.log(JSON.stringify({ state, text }))
  `
  expect(await trusting(provider.baseUrl, code)).toEqual({ state: 'done', text: 'The sum is 5.' })
})

test('over TLS, requests one after the other go over one connection', async () => {
  const provider = await secureProvider()
  const code = `
    const lengths = []
    for (const letter of 'abc') lengths.push((await send(letter)).length)
    console.log(JSON.stringify(lengths))
  `
  const length = (13 * 199 * 200) / 2
  expect(await trusting(provider.baseUrl, code)).toEqual([length, length, length])
  expect([provider.connections.opened, provider.requests()]).toEqual([1, 3])
})

test('over TLS, what comes at once over several connections is not mixed, and later ones are sooner there', async () => {
  const provider = await secureProvider()
  const code = `
    await send('z')
    const texts = await Promise.all([...'abcdefgh'].map(send))
    console.log(JSON.stringify(texts.map((text) => [[...new Set(text)].join(''), text.length])))
  `
  const length = (13 * 199 * 200) / 2
  expect(await trusting(provider.baseUrl, code)).toEqual(
    'abcdefgh'.split('').map((letter) => [letter, length]),
  )
  expect(provider.connections).toEqual({ opened: 8, resumed: 7 })
})

test('a certificate that nobody vouches for is tls_failed, each time anew', async () => {
  const provider = await secureProvider()
  for (let time = 0; time < 2; time += 1) {
    const { result } = await finishRun(startHttpRun({ baseUrl: provider.baseUrl }))
    expect(result).toMatchObject({ state: 'failed', reason: 'tls_failed' })
  }
  expect(provider.requests()).toBe(0)
})
