import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

import { onTestFinished } from 'vitest'

/** A way to a server that can be cut. */
export interface Relay {
  readonly host: string
  readonly url: string
  /** Ends every connection, and takes no new one until it is mended. */
  readonly cut: () => void
  readonly mend: () => void
}

/** Passes on to a server what arrives on a port of its own. */
export async function relayTo(url: string): Promise<Relay> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    if (isCut) near.destroy()
    else near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, url: `http://${host}`, cut, mend: () => void (isCut = false) }
}
