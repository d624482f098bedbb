// The processes of a comparison: one server, and one for each client that is asked for. All end with the stand.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { ask, next } from '../ask-child.ts'
import type { Taken, Task } from './task.ts'

type ClientAnswer = { readonly taken: Taken } | { readonly failed: string }

export class Stand implements AsyncDisposable {
  readonly url: string
  readonly #server: ChildProcess
  readonly #clients = new Map<string, ChildProcess>()

  static async open(): Promise<Stand> {
    const server = start('server-child.ts')
    const { url } = await next<{ url: string }>(server)
    return new Stand(server, url)
  }

  private constructor(server: ChildProcess, url: string) {
    this.#server = server
    this.url = url
  }

  /** Lets a client do a task, in a process that it keeps until it is told to start afresh. */
  async perform(client: string, task: Task): Promise<Taken> {
    const process = this.#clients.get(client) ?? (await this.#start(client))
    const answer = await ask<ClientAnswer>(process, task)
    if ('failed' in answer) throw new Error(`${client}: ${answer.failed}`)
    return answer.taken
  }

  /** When the first bytes of bodies were written since this was last asked, on the clock of `process.hrtime`. */
  async takeFirstBytes(): Promise<readonly bigint[]> {
    const { firstBytesAt } = await ask<{ firstBytesAt: bigint[] }>(this.#server, 'firsts')
    return firstBytesAt
  }

  /** Ends the process of a client, or those of all. */
  async startAfresh(client?: string): Promise<void> {
    for (const [name, process] of this.#clients) {
      if (client !== undefined && client !== name) continue
      this.#clients.delete(name)
      await stop(process)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.startAfresh()
    await stop(this.#server)
  }

  async #start(client: string): Promise<ChildProcess> {
    const process = start('client-child.ts', client)
    this.#clients.set(client, process)
    await next(process)
    return process
  }
}

function start(file: string, ...parameters: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), parameters, {
    serialization: 'advanced',
    execArgv: [],
    // Nobody's tracing is to be measured, and nothing is to be sent anywhere.
    env: {
      ...process.env,
      NODE_ENV: 'production',
      NO_PROXY: '127.0.0.1',
      OPENAI_AGENTS_DISABLE_TRACING: '1',
      OPENAI_API_KEY: 'none',
      OPENROUTER_API_KEY: 'none',
    },
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const late = setTimeout(() => child.kill('SIGKILL'), 5000)
  child.disconnect()
  await ended
  clearTimeout(late)
}
