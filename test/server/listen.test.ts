import { createServer } from 'node:http'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'

import { expect, onTestFinished, test } from 'vitest'

import { listen, type Listenable, type ListenOptions, type Listening } from '../../src/server/listen.ts'
import { ManualClock } from '../manual-clock.ts'
import { chunkOf, openRaw, requestText } from './socket-kit.ts'

/** A service that answers the same to all, and tells what was done with it. */
function fakeService(answer: (request: Request) => Response | Promise<Response> = () => new Response('ok')) {
  const said = { hosts: [] as string[], isClosed: false }
  const service: Listenable = {
    fetch: async (request) => answer(request),
    allowHosts: (hosts) => void said.hosts.push(...hosts),
    close: () => {
      said.isClosed = true
      return Promise.resolve()
    },
  }
  return { service, said }
}

async function listening(
  service: Listenable,
  options?: ListenOptions,
): Promise<Listening & { port: number }> {
  const found = await listen(service, options)
  onTestFinished(() => found.close())
  return { ...found, port: Number(new URL(found.url).port) }
}

test('by default a service is reached on a free port of this machine alone, by exactly three names', async () => {
  const { service, said } = fakeService()
  const { url, port } = await listening(service)
  expect(url).toBe(`http://127.0.0.1:${port}`)
  expect(said.hosts).toEqual([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
  expect(await (await fetch(url)).text()).toBe('ok')
})

test('fault S17: who listens on every address is reached by the addresses of the machine, and by no other name', async () => {
  const { service, said } = fakeService()
  const { url, port } = await listening(service, { host: '0.0.0.0' })
  expect(url).toBe(`http://127.0.0.1:${port}`)
  const own = Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address))
  const names = own.map((address) => `${address.includes(':') ? `[${address}]` : address}:${port}`)
  expect(new Set(said.hosts)).toEqual(
    new Set([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, ...names]),
  )
  expect(said.hosts).not.toContain(`0.0.0.0:${port}`)
})

test('localhost is this machine, whatever a resolver says', async () => {
  const { url, port } = await listening(fakeService().service, { host: 'localhost' })
  expect(url).toBe(`http://localhost:${port}`)
  expect(await openRaw(port, requestText('GET / HTTP/1.1', ['Host: x'])).until(/ok/u)).toContain(' 200 ')
})

test('fault S15: a port that another program has is an error, and the program is not spoken to', async () => {
  const asked: string[] = []
  const other = createServer((request) => void asked.push(request.url ?? ''))
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const { port } = Object(other.address()) as { port: number }
  const { service, said } = fakeService()
  await expect(listen(service, { port })).rejects.toMatchObject({
    code: 'usage',
    message: `cannot listen on 127.0.0.1, port ${port}: another program has it; take another port, or 0 for any free one`,
  })
  expect([said.hosts, asked]).toEqual([[], []])
})

test('an address that is not one of this machine is an error', async () => {
  await expect(listen(fakeService().service, { host: '192.0.2.1' })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('it is not an address of this machine') as string,
  })
})

test('fault S10: a body that comes too slowly is given up', async () => {
  const reading = Promise.withResolvers<string>()
  const { service } = fakeService(async (request) => {
    await request.text().then(reading.resolve, () => reading.resolve('broken off'))
    return new Response('late')
  })
  const { port } = await listening(service, { requestTimeoutMs: 60 })
  const headers = ['Host: x', 'Transfer-Encoding: chunked']
  const { closed } = openRaw(port, requestText('POST / HTTP/1.1', headers, chunkOf('a')))
  expect(await closed).toMatch(/^HTTP\/1\.1 408 /u)
  expect(await reading.promise).toBe('broken off')
})

test('fault S10: headers that never end are given up', async () => {
  const { port } = await listening(fakeService().service, { requestTimeoutMs: 60 })
  const { closed } = openRaw(port, 'GET / HTTP/1.1\r\nHost: x\r\n')
  expect(await closed).toMatch(/^HTTP\/1\.1 408 /u)
})

test('a stream that was asked for in good time may take as long as it likes', async () => {
  const more = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(Buffer.from('first'))
      await more.promise
      controller.enqueue(Buffer.from('last'))
      controller.close()
    },
  })
  const { service } = fakeService(({ method }) => new Response(method === 'GET' ? body : 'ok'))
  const { port } = await listening(service, { requestTimeoutMs: 60 })
  const stream = openRaw(port, requestText('GET / HTTP/1.1', ['Host: x']))
  await stream.until(/first/u)
  // Another connection that was given up shows that the time is over.
  await openRaw(port, 'GET / HTTP/1.1\r\n').closed
  more.resolve()
  expect(await stream.until(/last/u)).toContain(' 200 ')
})

test('closing closes the service, and cuts what does not leave by itself', async () => {
  const clock = new ManualClock()
  const { service, said } = fakeService(() => new Response(new ReadableStream()))
  const { url, close } = await listen(service, { clock })
  const { port } = new URL(url)
  const idle = openRaw(Number(port))
  const stream = openRaw(Number(port), requestText('GET / HTTP/1.1', ['Host: x']))
  await stream.until(/200/u)
  const over = close()
  await expect.poll(() => clock.timersArmed).toBe(2)
  expect(said.isClosed).toBe(true)
  clock.advance(500)
  await over
  await Promise.all([idle.closed, stream.closed])
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('a service that never closes does not keep connections for longer than 5 seconds', async () => {
  const clock = new ManualClock()
  const { service } = fakeService(() => new Response(new ReadableStream()))
  const { url, close } = await listen({ ...service, close: () => new Promise(() => undefined) }, { clock })
  const stream = openRaw(Number(new URL(url).port), requestText('GET / HTTP/1.1', ['Host: x']))
  await stream.until(/200/u)
  void close()
  clock.advance(5_000)
  expect(await stream.closed).toContain(' 200 ')
})
