import { spawn } from 'node:child_process'

import { onTestFinished } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { startCli, type CliOptions, type RunningCli } from '../cli/run-cli.ts'

/** What `serve --json` says. */
interface Announced {
  readonly url: string
  readonly page: string
  readonly pages: Readonly<Record<'read' | 'approve', string>> | null
  readonly tokens: Readonly<Record<'read' | 'approve', string>> | null
  readonly token_file: string | null
  readonly agents: readonly string[]
  readonly store: string
}

/** A service in a process of its own. */
export interface ServingCli extends RunningCli {
  readonly announced: Announced
  readonly url: string
  /** Asks for something with the token that may do all. */
  readonly ask: (path: string, body?: object, token?: string) => Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Starts `loopchart serve` and waits until it says where. */
export async function startServe(args: readonly string[], options: CliOptions = {}): Promise<ServingCli> {
  const running = startCli(['serve', '--json', ...args], options)
  const announced = JSON.parse(await running.until('out', /\n$/u)) as Announced
  const { url, tokens } = announced
  return {
    ...running,
    announced,
    url,
    ask: (path, body, token = tokens?.approve ?? '') => askFor(url + path, token, body),
  }
}

/** GET without a body, POST with one. */
export async function askFor(url: string, token: string, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

/** Starts a run, and gives its id. */
export async function startRunAt({ ask }: ServingCli, input = 'go'): Promise<string> {
  const { status, body } = await ask('/runs', { input })
  if (status !== 201) throw new Error(`it was not started: ${status} ${JSON.stringify(body)}`)
  return String(body['run_id'])
}

/** Everything that a stream says until it ends by itself. */
export async function readStream(url: string, token: string): Promise<string> {
  const response = await fetch(url, { headers: streamHeaders(token) })
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  return response.text()
}

/** Reads a stream until what it said matches, and leaves. */
export async function readUntil(url: string, token: string, pattern: RegExp): Promise<string> {
  const response = await fetch(url, { headers: streamHeaders(token) })
  if (response.body === null || response.status !== 200) throw new Error(`it was answered ${response.status}`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (pattern.test(text)) return text
  }
  throw new Error(`it ended without ${String(pattern)}: ${text}`)
}

/** Reads a stream with curl, a program that has nothing of ours. The token goes through standard input, not argv. */
export function readWithCurl(url: string, token: string): Promise<string> {
  const child = spawn('curl', [
    '--silent',
    '--show-error',
    '--no-buffer',
    '--max-time',
    '50',
    '--config',
    '-',
    url,
  ])
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.end(`header = "Authorization: Bearer ${token}"\nheader = "Accept: text/event-stream"\n`)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`curl: ${code} ${err}`))))
  })
}

export function streamHeaders(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
}

/** The frames that a stream said, in order. */
export function framesOf(stream: string): readonly Frame[] {
  return stream
    .split('\n\n')
    .filter((event) => event.includes('event: frame'))
    .map((event) => JSON.parse(/^data: (.*)$/mu.exec(event)?.[1] ?? '') as Frame)
}
