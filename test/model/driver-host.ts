import { Buffer } from 'node:buffer'

import type { LoopCommand } from '../../machines/loop.types.ts'
import type { LoopPathEvent } from '../../src/chart/loop-events.ts'
import type { LoopPath } from '../../src/chart/loop-paths.ts'
import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { makeFrame } from '../../src/frames/make-frame.ts'
import type { Decision, EffectRun, Journal } from '../../src/journal/journal.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { Driver } from '../../src/loop/drive.ts'
import type { Model, ModelRequest } from '../../src/loop/model.ts'
import type { PathHost } from './path-host.ts'

/** What the driver did at one event of a path; inputs of effects are not part of a journal. */
export interface DriverStep {
  readonly state: string
  readonly status: string
  readonly context: unknown
  readonly output: unknown
  readonly started: readonly string[]
  readonly aborted: readonly string[]
}

/** Runs a path on the driver: a journal that decides as the path says. */
export async function drivePath(
  path: LoopPath,
): Promise<{ steps: readonly DriverStep[]; frames: readonly Frame[] }> {
  const journal = new PathJournal(path.events)
  const stamp = new FrameStamp('run_path', () => 0)
  const driver = new Driver({
    runId: 'run_path',
    agent: journal.agent,
    input: path.input,
    journal,
    stamp,
    started: startFrame(stamp, path),
  })
  journal.read = () => driver.snapshot
  void driver.run().catch(journal.fail)
  await journal.ended
  return { steps: journal.steps, frames: journal.frames }
}

function startFrame(stamp: FrameStamp, { input }: LoopPath): Frame {
  return makeFrame(stamp, 'run_started', {
    input: input.items.map((item) => ({ ...item })),
    agent: {},
    model: 'path',
    limits: { wall_time_ms: input.wallTimeMs },
    settings: { ...input.settings, limits: { ...input.settings.limits } },
    deadline_at: input.deadlineAt,
    continuity: 'auto',
    chart_version: '',
    chart_hash: '',
    parent: null,
    ...(input.cursor !== null && { conversation: conversationOf(input.cursor.responseId) }),
  })
}

/** What the log of a run says that goes on from the response of another. */
function conversationOf(
  previousResponseId: string,
): NonNullable<Extract<Frame, { type: 'run_started' }>['conversation']> {
  return {
    conversation_id: 'conversation_1',
    message_seq: 1,
    bundle_id: 'bundle_1',
    bundle: {},
    previous_response_id: previousResponseId,
  }
}

/** What is compared of the steps of another host. */
export async function stepsOf(host: PathHost, path: LoopPath): Promise<readonly DriverStep[]> {
  const steps = await host.run(path)
  return steps.map(({ state, status, context, output, started, aborted }, at) => ({
    state,
    status,
    context,
    output,
    started: started.filter(({ effect, input }) => !isIdleTimer(effect, input)).map(({ id }) => id),
    // What is in doubt does not run any more, so there is nothing to abort.
    aborted: aborted.filter((id) => id !== 'deadline' && id !== doubtedId(path.events[at - 1])),
  }))
}

function doubtedId(event: LoopPathEvent | undefined): string | null {
  return event?.type === 'effect.inDoubt' ? event.id : null
}

function isIdleTimer(effect: string, input: unknown): boolean {
  return effect === 'timer' && (input as { at: number | null }).at === null
}

class PathJournal implements Journal {
  readonly steps: DriverStep[] = []
  readonly frames: Frame[] = []
  readonly ended: Promise<void>
  fail: (error: unknown) => void = () => undefined
  read: () => Driver['snapshot'] = () => {
    throw new Error('the driver is not there yet')
  }
  readonly agent: Agent
  readonly #events: LoopPathEvent[]
  readonly #keys = new Map<string, string>()
  #end: () => void = () => undefined
  #request: ModelRequest | null = null
  #started: string[] = []
  #aborted: string[] = []

  constructor(events: readonly LoopPathEvent[]) {
    this.#events = [...events]
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve
      this.fail = reject
    })
    this.agent = stubAgent((request) => {
      this.#request = request
    })
  }

  start(key: string, effect: EffectRun): void {
    this.#begin(key)
    // Only a request is made, so that its first event can be seen; how effects settle is the path's to say.
    if (key.includes('/respond/')) void effect(new AbortController().signal)
  }

  timer(key: string): void {
    this.#begin(key)
  }

  doubt(): void {
    throw new Error('a path is walked from its start')
  }

  abort(key: string): void {
    const id = idOf(key)
    if (this.#keys.get(id) !== key) return
    this.#keys.delete(id)
    if (id !== 'deadline') this.#aborted.push(id)
  }

  letGo(): void {
    // A path is followed to its end.
  }

  async next(): Promise<Decision> {
    // Requests are made in a microtask of their own.
    await Promise.resolve()
    this.#capture()
    for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) {
      const decision = this.#decision(event)
      if (decision !== null) return decision
      if (event.type === 'stream.opened') this.#open()
      this.#capture()
    }
    this.#end()
    return new Promise(() => undefined)
  }

  commit(frames: readonly Frame[]): Promise<void> {
    this.frames.push(...frames)
    return Promise.resolve()
  }

  observe(frame: Frame): void {
    this.frames.push(frame)
  }

  send(): Promise<never> {
    throw new Error('commands come from the path')
  }

  close(): Promise<void> {
    this.#capture()
    this.#end()
    return Promise.resolve()
  }

  #begin(key: string): void {
    this.#keys.set(idOf(key), key)
    this.#started.push(idOf(key))
  }

  #capture(): void {
    const { state, status, context, output } = this.read()
    const [started, aborted] = [this.#started, this.#aborted]
    this.#started = []
    this.#aborted = []
    this.steps.push({ state, status, context, output, started, aborted })
  }

  #open(): void {
    this.#request?.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
    this.#request?.onChunk(Buffer.from('data: {"type":"response.created"}\n\n'))
  }

  #decision(event: LoopPathEvent): Decision | null {
    const [, how, id] = /^xstate\.(done|error)\.actor\.(.+)$/u.exec(event.type) ?? []
    if (id !== undefined) {
      const key = this.#keys.get(id) ?? ''
      this.#keys.delete(id)
      if (how === 'error') return { kind: 'bug', key, error: new Error('rejected') }
      return { kind: 'settled', key, value: valueOf(id, 'output' in event ? event.output : null) }
    }
    if (event.type === 'effect.inDoubt') {
      const key = this.#keys.get(event.id)
      if (key === undefined) return null
      this.#keys.delete(event.id)
      return { kind: 'inDoubt', key, isUntouched: event.isUntouched === true }
    }
    if (/^(?:run|call)\./u.test(event.type)) {
      return { kind: 'command', command: event as LoopCommand, reply: () => undefined }
    }
    return null
  }
}

function idOf(key: string): string {
  return key.split('/').at(-2) ?? ''
}

/** What the driver's own effects say beside what the chart needs. */
function valueOf(id: string, output: unknown): unknown {
  if (id === 'respond') {
    const settled = { response_id: null, status: 'completed', items: [], usage: null, error: null }
    return { ...(output as object), settled }
  }
  if (!id.startsWith('tool.')) return output
  const { outcome, output: said, usage } = output as { outcome: string; output: string; usage: object | null }
  const slot = Number(id.slice('tool.'.length))
  const ended = {
    call_id: id,
    slot,
    outcome,
    exit_code: 0,
    artifacts: [],
    output: said,
    duration_ms: 0,
    error: null,
    usage,
  }
  return { ...(output as object), ended }
}

function none(): never {
  throw new Error('the path decides, nothing runs')
}

function stubAgent(onRequest: (request: ModelRequest) => void): Agent {
  const never = new Promise<never>(() => undefined)
  const model: Model = {
    name: 'path',
    endpoint: 'path:',
    isStreamed: true,
    canContinueById: true,
    send: (request) => {
      onRequest(request)
      return never
    },
  }
  return {
    models: [model, model, model],
    fallbackOn: new Set(),
    tools: {
      definitions: [],
      claim: () => null,
      appraise: none,
      run: none,
      answerText: (outcome) => outcome,
    },
    clock: { now: () => 0, setTimer: () => () => undefined },
    random: () => 0,
    retry: { times: 0, waitMs: 0, waitMaxMs: 0, suspendAfterMs: Number.POSITIVE_INFINITY },
    profile: null,
    streamLimits: {},
    settings: {} as Agent['settings'],
    continuity: 'auto',
    wallTimeMs: null,
    description: { fingerprint: '', plans: [], encodings: {} },
    buildRequest: () => ({ text: '{}', pieces: undefined, warnings: [] }),
    checkOutput: null,
    compaction: null,
  }
}
