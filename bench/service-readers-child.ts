// The clients of the service's bench, in a process of their own: each starts a run and reads its frames as they come.
// Speaks with its parent by messages: { start: COUNT } answers when all have their first frame, `report` with what came.
import { request, type ClientRequest, type IncomingMessage } from 'node:http'

const [service = '', token = ''] = process.argv.slice(2)
const START_EVERY_MS = 15

interface Reader {
  readonly closing: ClientRequest
  frames: number
  gaps: number
}

const readers: Reader[] = []
const firstFrameMs: number[] = []

process.on('message', (asked: { readonly start?: number } | 'report' | 'stop') => {
  if (asked === 'report') process.send?.(reportOf())
  else if (asked === 'stop') leave()
  else void startMany(asked.start ?? 0)
})

async function startMany(count: number): Promise<void> {
  firstFrameMs.length = 0
  const starting: Promise<void>[] = []
  for (let at = 0; at < count; at += 1) {
    starting.push(startOne())
    await new Promise((resolve) => setTimeout(resolve, START_EVERY_MS))
  }
  await Promise.all(starting)
  process.send?.({ started: count, firstFrameMs: firstFrameMs.toSorted((a, b) => a - b) })
}

async function startOne(): Promise<void> {
  const body = JSON.stringify({ input: 'Say something long.' })
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    request(`${service}/runs`, { method: 'POST', headers }, resolve).on('error', reject).end(body)
  })
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  if (answer.statusCode !== 201) throw new Error(`the run was not started: ${text}`)
  const { run_id: runId } = JSON.parse(text) as { run_id: string }
  await read(runId)
}

/** Resolves with the first frame and reads on. */
function read(runId: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sentMs = performance.now()
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
    const asked = request(`${service}/runs/${runId}/frames`, { headers }, (response) => {
      let rest = ''
      response.setEncoding('latin1')
      response.on('data', (chunk: string) => {
        rest = take(reader, rest + chunk)
        if (reader.frames === 0 || !isFirst) return
        isFirst = false
        firstFrameMs.push(performance.now() - sentMs)
        resolve()
      })
    })
    let isFirst = true
    const reader: Reader = { closing: asked, frames: 0, gaps: 0 }
    readers.push(reader)
    asked.on('error', (error) => (isFirst ? reject(error) : undefined)).end()
  })
}

/** Counts the frames of whole events and gives back what is not whole yet. */
function take(reader: Reader, text: string): string {
  const end = text.lastIndexOf('\n\n')
  if (end === -1) return text
  for (const [, seq] of text.slice(0, end + 1).matchAll(/^id: ?(\d+)$/gmu)) {
    if (Number(seq) !== reader.frames) reader.gaps += 1
    reader.frames += 1
  }
  return text.slice(end + 2)
}

function reportOf(): { readonly readers: number; readonly frames: number; readonly gaps: number } {
  return {
    readers: readers.length,
    frames: readers.reduce((sum, { frames }) => sum + frames, 0),
    gaps: readers.reduce((sum, { gaps }) => sum + gaps, 0),
  }
}

function leave(): void {
  for (const { closing } of readers) closing.destroy()
  process.disconnect()
}
