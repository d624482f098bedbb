import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { connectStately } from '../../src/inspect/connect-stately.ts'
import type { ChartEvent } from '../../src/inspect/step-reader.ts'
import { inspectionOf } from '../../src/inspect/inspection.ts'
import { ManualClock } from '../manual-clock.ts'
import { readLog } from '../replay/read-log.ts'

// Two bytes of head, four of mask, two of code, and `too slow`.
const CLOSE_FRAME_BYTES = 2 + 4 + 2 + 8

const EVENTS = [...inspectionOf(readLog('answer'))]

test('a server that takes nothing is sent no more than a bound, and is left', async () => {
  const { url, connected } = await startStuckServer()
  const clock = new ManualClock()
  const faults: string[] = []
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>()
  const onFault = (message: string): void => {
    faults.push(message)
    fail()
  }
  const connection = connectStately(url, { notify: () => undefined, clock, onFault })
  const socket = await connected
  const event: ChartEvent = { type: 'run.steer', text: 'x'.repeat(1024 * 1024) }
  const big = EVENTS.flatMap((one) => (one.type === '@xstate.event' ? [{ ...one, event }] : []))
  for (let sent = 0; sent < 64; sent += 1) for (const one of big.slice(0, 1)) connection.inspect(one)
  // What was sent before is still taken when it can be, up to the frame that says goodbye.
  let bytes = 0
  let end = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    end = Buffer.concat([end, chunk]).subarray(-CLOSE_FRAME_BYTES)
    if (end[0] === 0x88) socket.destroy()
  })
  socket.resume()
  await failed
  expect(faults[0]).toContain(`no connection to ${url}`)
  expect(bytes).toBeLessThan(16 * 1024 * 1024)
  expect(clock.timersArmed).toBe(1)
  await connection.close()
})

/** A WebSocket server that shakes hands and then reads nothing until it is told to. */
async function startStuckServer(): Promise<{ readonly url: string; readonly connected: Promise<Socket> }> {
  const server = createServer()
  const connected = new Promise<Socket>((resolve) => {
    server.on('upgrade', (request, stream) => {
      const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
      const accept = createHash('sha1').update(key).digest('base64')
      stream.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      stream.pause()
      resolve(stream as Socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `ws://127.0.0.1:${port}`, connected }
}
