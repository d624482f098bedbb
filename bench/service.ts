import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

import { ask, next } from './ask-child.ts'
import type { Figure } from './decode.ts'
import { pageFigure } from './page.ts'

const STEADY_MS = 20_000
const FEW = 200
const MANY = 1_000
const STALLED = 50
const MB_PER_MIB = 1.048576
const STALLED_WAIT_MS = 3_000

interface Report {
  readonly peakMiB: number
  readonly delayMs: { readonly p99: number; readonly max: number }
}

interface Started {
  readonly firstFrameMs: readonly number[]
}

interface Read {
  readonly readers: number
  readonly frames: number
  readonly gaps: number
}

/**
 * The service under load, alone in its process: provider and readers have their own. Each run gets five events a second,
 * each has a reader. The first figures are those of a service that just started.
 */
export async function serviceFigures(): Promise<readonly Figure[]> {
  const token = randomBytes(32).toString('base64url')
  const children: ChildProcess[] = []
  const start = (name: string, ...parameters: string[]): ChildProcess => {
    const child = fork(fileURLToPath(new URL(name, import.meta.url)), parameters, {
      execArgv: ['--expose-gc'],
    })
    children.push(child)
    return child
  }
  try {
    const provider = start('service-provider-child.ts')
    const { url: providerUrl } = await next<{ url: string }>(provider)
    const service = start('service-child.ts', providerUrl, token)
    const { url, longRun } = await next<{ url: string; longRun: string }>(service)
    const page = await pageFigure(url, longRun, token)
    if (page === null) console.error('page_ready_ms is not measured: no chromium')
    const readers = start('service-readers-child.ts', url, token)
    const few = await ask<Started>(readers, { start: FEW })
    await ask(service, 'measure')
    await ask<Started>(readers, { start: MANY - FEW })
    await new Promise((resolve) => setTimeout(resolve, STEADY_MS))
    const report = await ask<Report>(service, 'report')
    const read = await ask<Read>(readers, 'report')
    if (read.readers !== MANY || read.gaps > 0 || read.frames < MANY * (STEADY_MS / 200)) {
      throw new Error(`the readers did not get what was sent: ${JSON.stringify(read)}`)
    }
    const stalled = await stalledFigure(service, `${url}/runs/${longRun}/frames`, token)
    return [...(page === null ? [] : [page]), ...figuresOf(few, report, read), stalled]
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

function figuresOf(few: Started, report: Report, read: Read): readonly Figure[] {
  const load = `${MANY} runs at 5 events/s, ${MANY} SSE readers, ${read.frames} frames read`
  return [
    {
      id: 'service_first_frame_ms',
      value: few.firstFrameMs[Math.floor(few.firstFrameMs.length * 0.99)] ?? Number.NaN,
      unit: 'ms',
      budget: 250,
      about: `p99 of ${FEW} readers, from the request to the first frame, while as many runs start`,
    },
    { id: 'service_1000_rss', value: report.peakMiB * MB_PER_MIB, unit: 'MB', budget: 512, about: load },
    {
      id: 'service_1000_delay_ms',
      value: report.delayMs.p99,
      unit: 'ms',
      budget: 100,
      about: `p99 of the event loop's delay, longest ${report.delayMs.max.toFixed(0)} ms`,
    },
  ]
}

/** What readers hold who take nothing of a long log: how much more is left after a collection than the load alone adds in the same time. */
async function stalledFigure(service: ChildProcess, frames: string, token: string): Promise<Figure> {
  const start = await heldAfterWait(service)
  const before = await heldAfterWait(service)
  const sockets = Array.from({ length: STALLED }, () => stall(new URL(frames), token))
  const after = await heldAfterWait(service)
  for (const socket of sockets) socket.destroy()
  return {
    id: 'service_stalled_reader_mib',
    value: Math.max(0, after - before - (before - start)) / STALLED,
    unit: 'MiB',
    budget: 1,
    about: `what each of ${STALLED} readers that take nothing holds after a collection, beside the load`,
  }
}

async function heldAfterWait(service: ChildProcess): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, STALLED_WAIT_MS))
  return (await ask<{ heldMiB: number }>(service, 'measure')).heldMiB
}

function stall({ hostname, port, host, pathname }: URL, token: string): Socket {
  const socket = connect(Number(port), hostname)
  socket.pause()
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
  )
  return socket
}
