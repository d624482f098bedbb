import { startScriptedProvider, type ScriptedProvider } from '../provider/scripted/start-scripted-provider.ts'
import { readScript } from './choose-model.ts'
import { demoScript } from './demo-script.ts'
import { ExitCode } from './exit-code.ts'
import { parsePort } from './parse-port.ts'
import { countOf } from './run-figures.ts'
import { oneLine, shorten } from './safe-text.ts'

export interface MockFlags {
  readonly script?: string
  readonly port?: string
}

type RecordedRequest = ScriptedProvider['requests'][number]

const LOOK_MS = 50

/** Serves a script until somebody ends it; resolves with the exit code. */
export async function mock({ script, port = '0' }: MockFlags): Promise<number> {
  const portNumber = parsePort(port)
  const turns = script === undefined ? demoScript : await readScript(script)
  const provider = await startScriptedProvider(turns, { port: portNumber })
  process.stdout.write(`${provider.url}\n`)
  const stopTelling = [
    tellRequests(provider.requests, describe),
    tellRequests(provider.compactRequests, describeCompaction),
  ]
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  for (const stop of stopTelling) stop()
  await provider.close()
  return ExitCode.ok
}

/** One line for each request. The provider keeps a list of them: it is looked at now and then. */
function tellRequests(
  requests: readonly RecordedRequest[],
  describeOne: (request: RecordedRequest) => string,
): () => void {
  // By the last one and not by a count: of a long list the oldest are dropped.
  let last: RecordedRequest | null = null
  const tell = (): void => {
    const fresh: readonly RecordedRequest[] =
      last === null ? requests : requests.slice(requests.lastIndexOf(last) + 1)
    for (const request of fresh) process.stdout.write(`${describeOne(request)}\n`)
    last = fresh.at(-1) ?? last
  }
  const timer = setInterval(tell, LOOK_MS)
  return () => {
    clearInterval(timer)
    tell()
  }
}

function describe({ body }: RecordedRequest): string {
  const { stream, previous_response_id: previous } = body
  const after = typeof previous === 'string' ? `, after ${shown(previous)}` : ''
  return `POST /v1/responses  ${contentOf(body)}${after}, ${stream === true ? 'streamed' : 'whole'}`
}

function describeCompaction({ body }: RecordedRequest): string {
  return `POST /v1/responses/compact  ${contentOf(body)}`
}

function contentOf({ model, input }: RecordedRequest['body']): string {
  const items = Array.isArray(input) ? countOf(input.length, 'item') : 'a text'
  return `model ${shown(typeof model === 'string' ? model : 'not named')}, ${items}`
}

function shown(text: string): string {
  return shorten(oneLine(text), 80)
}
