import { request, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { listen } from '../../src/server/listen.ts'
import { Random } from '../simulation/random.ts'
import { GatedModel, serviceKit, SSE, TOKEN, until, upTo, type ServiceKit } from './service-kit.ts'

const DISCONNECTS = 200

interface Reader {
  readonly url: string
  readonly runId: string
  /** The numbers of the frames that were received whole, in order. */
  readonly seen: number[]
}

/** Reads on from the last frame that was received, until so many bytes came or the stream ended; true: it ended. */
async function readOn({ url, runId, seen }: Reader, bytesMax: number): Promise<boolean> {
  const last = seen.at(-1)
  const headers = {
    ...SSE,
    authorization: `Bearer ${TOKEN}`,
    ...(last === undefined ? {} : { 'last-event-id': String(last) }),
  }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${url}/runs/${runId}/frames`, { headers }, resolve).on('error', reject).end()
  })
  expect(response.statusCode).toBe(200)
  let text = ''
  let bytes = 0
  let isEnded = false
  // As a line that was cut off counts for nothing, so does what is read after the cut.
  for await (const chunk of response.iterator({ destroyOnReturn: false })) {
    const piece = (chunk as Buffer).subarray(0, bytesMax - bytes)
    bytes += piece.length
    text += piece.toString('latin1')
    if (bytes >= bytesMax) break
  }
  response.destroy()
  for (const block of text.split('\n\n').slice(0, -1)) {
    const [, id] = /^id: (\d+)$/mu.exec(block) ?? []
    if (id !== undefined) seen.push(Number(id))
    if (block.startsWith('event: end')) isEnded = true
  }
  return isEnded
}

test(`fault S03: over ${DISCONNECTS} disconnects at random bytes no frame is missing and none comes twice`, async () => {
  const random = new Random(8)
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const listening = await listen(kit.service)
  onTestFinished(() => listening.close())
  const reader: Reader = { url: listening.url, runId: await kit.start(), seen: [] }
  await until(() => gate.requests === 1)
  for (let disconnect = 0; disconnect < DISCONNECTS; disconnect += 1) {
    for (let pieces = random.between(0, 5); pieces >= 0; pieces -= 1) gate.say(`${disconnect} `)
    if (disconnect === DISCONNECTS - 1) gate.end()
    await readOn(reader, random.between(1, 1_500))
  }
  while (!(await readOn(reader, Number.POSITIVE_INFINITY)));
  const total = kit.store.find(reader.runId)?.frames ?? 0
  expect(total).toBeGreaterThan(2 * DISCONNECTS)
  expect(reader.seen).toEqual(upTo(total))
  await until(async () => (await (await kit.ask('/metrics')).text()).includes('loopchart_readers 0\n'))
}, 60_000)

test('fault S01: for a socket that takes nothing no more is read than the system takes, and others read on', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const listening = await listen(kit.service)
  onTestFinished(() => listening.close())
  const runId = await kit.start()
  await until(() => gate.requests === 1)
  const { hostname, port, host } = new URL(listening.url)
  const socket: Socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.write(
    `GET /runs/${runId}/frames HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\nAccept: text/event-stream\r\n\r\n`,
  )
  await until(async () => (await (await kit.ask('/metrics')).text()).includes('loopchart_readers 1\n'))
  // 24 MiB: more than any buffer of the system between the two takes.
  for (let at = 0; at < 1_500; at += 1) {
    gate.say(`${at} `.padEnd(8_192, 'x'))
    if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  gate.end()
  await until(() => kit.store.find(runId)?.status === 'ended')
  const sent = await bytesSent(kit)
  await new Promise((resolve) => setImmediate(resolve))
  // Nothing more is asked of the log for it: what the kernel took, and at most one write beyond.
  expect(await bytesSent(kit)).toBe(sent)
  expect(sent).toBeLessThan(16 * 1024 * 1024)
  const reader: Reader = { url: listening.url, runId, seen: [] }
  expect(await readOn(reader, Number.POSITIVE_INFINITY)).toBe(true)
  expect(reader.seen).toEqual(upTo(kit.store.find(runId)?.frames ?? 0))
}, 60_000)

async function bytesSent(kit: ServiceKit): Promise<number> {
  const text = await (await kit.ask('/metrics')).text()
  return Number(/^loopchart_frame_bytes_sent_total (\d+)$/mu.exec(text)?.[1])
}
