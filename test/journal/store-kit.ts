import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { onTestFinished } from 'vitest'

import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore, type OpenStoreOptions, type SqliteStore } from '../../src/journal/open-store.ts'
import { startFrame } from './sample-frames.ts'

/** A folder that is gone after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A store in a folder of its own, closed after the test. */
export function tempStore(options: OpenStoreOptions = {}): SqliteStore {
  return openedStore(join(tempFolder(), 'runs.db'), options)
}

/** A store that is closed after the test. */
export function openedStore(path: string, options: OpenStoreOptions = {}): SqliteStore {
  const store = openStore(path, options)
  onTestFinished(() => store.close())
  return store
}

/** The stamp of a run, and its first frame. */
export function beginLog(runId: string): { readonly stamp: FrameStamp; readonly started: Frame } {
  const stamp = new FrameStamp(runId, () => 1_000_000)
  return { stamp, started: startFrame(stamp) }
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}

/** What a call throws. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** What `store-child.ts` is asked to do. */
export type ChildRequest =
  | { readonly ask: 'create' | 'take' | 'close'; readonly runId: string }
  | { readonly ask: 'append'; readonly runId: string; readonly frames: number }
  | { readonly ask: 'read'; readonly runId: string; readonly until: number }

export interface ChildAnswer {
  readonly ok: boolean
  readonly code: string | null
  readonly owner: { readonly pid: number; readonly host: string; readonly since: number } | null
  readonly value: number
}

/** Another process with the same store. */
export class StoreProcess {
  readonly #child: ChildProcess

  constructor(path: string) {
    const script = fileURLToPath(new URL('store-child.ts', import.meta.url))
    this.#child = fork(script, [path], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Asks and waits for the answer. One request at a time. */
  async ask(request: ChildRequest): Promise<ChildAnswer> {
    const answered = once(this.#child, 'message')
    this.#child.send(request)
    const [answer] = (await answered) as [ChildAnswer]
    return answer
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  /** Ends it as a crash does; resolves when it is gone. */
  async kill(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}
