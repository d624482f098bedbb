// Runs over HTTP: a handler of web requests that can be mounted anywhere. Each reader is a place in a log; runs go on
// when readers leave.
import { createRequire } from 'node:module'

import { systemClock, type Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import { Redactor } from '../frames/redactor.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { Agent } from '../loop/agent.ts'
import type { Run } from '../loop/run.ts'
import { AnsweredKeys } from './answered-keys.ts'
import { AllowedHosts } from './guard.ts'
import { Metrics } from './metrics.ts'
import type { ServiceParts } from './route.ts'
import { RunRegistry } from './run-registry.ts'
import { RunViews } from './run-views.ts'
import { serviceApp } from './service-app.ts'
import { SseReaders } from './sse-readers.ts'
import { Tokens, type ServiceToken } from './tokens.ts'

/** How much a service takes on. */
export interface ServiceLimits {
  /** Runs that are driven at once; 1,000 when left out. */
  readonly runs?: number
  /** Open streams of frames; 2,000 when left out. */
  readonly streams?: number
  /** For each token; 60 when left out. */
  readonly requestsPerSecond?: number
  /** Of one request; 1 MiB when left out. */
  readonly bodyBytes?: number
}

export interface ServiceOptions {
  /** By name. A request that names none gets `default`, or the only one. */
  readonly agents: Readonly<Record<string, Agent>>
  /** Where the runs are kept; it stays the caller's to close. */
  readonly store: RunStore
  readonly auth: { readonly tokens: readonly ServiceToken[] }
  /** The exact values of Host that are let in; none when left out, until `allowHosts` names some. */
  readonly hosts?: readonly string[]
  /** What every path begins with, such as `/agents`. */
  readonly basePath?: string
  readonly limits?: ServiceLimits
  /** Values that are masked wherever they would be shown; the logs stay as they are. */
  readonly secrets?: Iterable<string>
  readonly clock?: Clock
  /** Takes one line for each thing that went wrong without anybody being told. No secret and no token is in it. */
  readonly log?: (line: string) => void
  /** Hears of each run that is begun or taken up here, and which frame is the first that is written here. */
  readonly onRun?: (run: Run, from: number) => void
  /** Whether a run is cancelled when its last reader leaves; runs go on when left out. */
  readonly cancelOnDisconnect?: boolean
}

/** A service. It listens nowhere: give its `fetch` to a server. */
export interface Service {
  fetch(request: Request): Promise<Response>
  /** Lets more values of Host in, once a port is known. */
  allowHosts(hosts: readonly string[]): void
  /**
   * Goes on with the unfinished runs that this service began and nobody drives; resolves with their ids. Those beyond the
   * limit on runs go on when others have ended.
   */
  resumeAll(): Promise<readonly string[]>
  /**
   * Stops it within 5 seconds: no new runs, those at work are let go of, readers are told. Calls that are at work have 3
   * of them to come to their end.
   */
  close(): Promise<void>
}

const DEFAULTS = { runs: 1_000, streams: 2_000, requestsPerSecond: 60, bodyBytes: 1024 * 1024 } as const
// Of the 5 seconds that there are: runs are let go of after the first, and readers must be told after that.
const CALLS_END_WITHIN_MS = 3_000
const LET_GO_MS = 4_000

/** Makes a service. Throws `usage` for options that cannot work. */
export function createService(options: ServiceOptions): Service {
  const { store, auth, hosts = [], basePath = '', clock = systemClock, cancelOnDisconnect = false } = options
  const limits = limitsOf(options.limits ?? {})
  const agents = agentsOf(options.agents)
  if (!/^(?:\/[\w.~-]+)*$/u.test(basePath)) {
    throw new LoopchartError('usage', 'basePath must be a path that begins with / and does not end with it')
  }
  const tokens = new Tokens(auth.tokens)
  const redactor = new Redactor([...(options.secrets ?? []), ...tokens.secrets])
  const allowed = new AllowedHosts(hosts)
  const log = (line: string): void => options.log?.(redactor.text(line))
  const metrics = new Metrics()
  const onRun = options.onRun ?? (() => undefined)
  const registry = new RunRegistry({ agents, store, runsMax: limits.runs, clock, metrics, log, onRun })
  const onDeserted = (runId: string): void => {
    if (cancelOnDisconnect) void registry.live(runId)?.cancel('its last reader left')
  }
  const readers = new SseReaders({ readersMax: limits.streams, clock, redactor, metrics, onDeserted })
  const views = new RunViews({ store, registry, clock })
  let closing: Promise<void> | null = null
  const parts: ServiceParts = {
    agents: [...agents.keys()],
    store,
    registry,
    views,
    readers,
    keys: new AnsweredKeys(),
    tokens,
    redactor,
    metrics,
    clock,
    version: packageVersion(),
    basePath,
    bodyBytesMax: limits.bodyBytes,
    isClosing: () => closing !== null,
  }
  const app = serviceApp(parts, allowed, limits.requestsPerSecond, log)
  return {
    fetch: async (request) => app.fetch(request),
    allowHosts: (more) => allowed.add(more),
    resumeAll: () => resumeAll(parts, log),
    close: () => (closing ??= closeService(parts)),
  }
}

async function resumeAll(
  { store, registry, isClosing }: ServiceParts,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const resumed: string[] = []
  for (const { runId, kind, status, owner } of store.list()) {
    if (isClosing()) break
    if (kind !== 'run' || status === 'ended' || owner !== null) continue
    if (registry.live(runId) !== null || !registry.has(registry.agentOf(runId))) continue
    try {
      if (registry.takeUpInTurn(runId)) resumed.push(runId)
    } catch (error) {
      log(`run ${runId} was not taken up: ${error instanceof Error ? error.message : 'unknown'}`)
    }
    // Each is folded from its first frame on: others have their turn in between.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return resumed
}

async function closeService({ registry, readers, views, clock }: ServiceParts): Promise<void> {
  registry.refuseRuns()
  const late = Promise.withResolvers<void>()
  const disarm = clock.setTimer(clock.now() + LET_GO_MS, late.resolve)
  await Promise.race([registry.suspendAll(CALLS_END_WITHIN_MS), late.promise])
  disarm()
  readers.leave()
  views.close()
}

function agentsOf(agents: Readonly<Record<string, Agent>>): ReadonlyMap<string, Agent> {
  const named = new Map(Object.entries(agents))
  for (const name of named.keys()) {
    if (!/^[A-Za-z0-9][\w.-]{0,99}$/u.test(name)) {
      throw new LoopchartError('usage', `an agent cannot be called ${JSON.stringify(name)}`)
    }
  }
  return named
}

function limitsOf(given: ServiceLimits): Required<ServiceLimits> {
  const limits = { ...DEFAULTS, ...given }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new LoopchartError('usage', `limits.${name} must be a whole number above 0`)
    }
  }
  return limits
}

function packageVersion(): string {
  const { version }: { version: string } = createRequire(import.meta.url)('loopchart/package.json')
  return version
}
