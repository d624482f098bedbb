import { LoopchartError, type ErrorCode } from '../errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { admitCall, isRefusal, type CallRequest, type Refusal } from './admit-call.ts'
import { hashCall } from './appraise-call.ts'
import type { Clock } from '../clock.ts'
import { describeThrown } from './describe-thrown.ts'
import { encodeFailure, encodeValue, type ModelOutput, type OutputForm } from './encode-output.ts'
import { outcomeText } from './outcome-text.ts'
import type { Registry } from './registry.ts'
import type { PreparedCall, Tool } from './tool.ts'
import type { AgentResult, OutputListener } from './tool-settings.ts'
import type { ToolChoicePolicy } from './tool-choice-policy.ts'

/** What calls are run with; the same for all calls of a turn. */
export interface CallHost {
  readonly registry: Registry
  readonly policy: ToolChoicePolicy
  readonly clock: Clock
}

/** One call to run. */
export interface RunnableCall extends CallRequest {
  /** Idempotency key, the same for every attempt. */
  readonly key: string
  /** Milliseconds from now, the check of the arguments included. */
  readonly timeoutMs: number
  /** What somebody agreed to, by hash; nobody had to without it. */
  readonly approvedHash?: string | undefined
}

export interface RunCallOptions {
  /** What the tool shows while it works. */
  readonly onOutput?: OutputListener
  /** What the tool answered after its call had been settled without it. For the log; nothing else uses it. */
  readonly onLate?: (result: CallResult) => void
  /** Runs an agent as the work of this call; without it, no tool can. */
  readonly runAgent?:
    | ((agent: object, input: string, signal: AbortSignal) => Promise<AgentResult>)
    | undefined
  readonly signal: AbortSignal
}

/** Plain JSON: how a call ended. */
export interface CallResult {
  readonly outcome: 'ok' | 'error' | 'timeout' | 'cancelled' | Refusal['outcome']
  /** For the model. Holds nothing that differs between two equal results: no ids, no times. */
  readonly output: ModelOutput
  /** Null when the tool did not end, or did not begin. */
  readonly exitCode: number | null
  readonly artifacts: readonly JsonObject[]
  readonly error: { readonly code: ErrorCode; readonly message: string } | null
  readonly durationMs: number
}

type Ending = Omit<CallResult, 'durationMs'>

/** Why a call is settled without its tool. */
type Cut = 'timeout' | 'cancelled'

/**
 * Runs one call. It never rejects and always settles: by what the tool gives or throws, at the deadline, or at
 * once when the signal is aborted, whatever the tool does then. Code that blocks the thread is out of reach:
 * run that in a process of its own.
 */
export function runCall(host: CallHost, call: RunnableCall, options: RunCallOptions): Promise<CallResult> {
  const { promise, resolve } = Promise.withResolvers<CallResult>()
  try {
    new RunningCall(host, call, options, resolve).start()
  } catch (error) {
    resolve(broken(error))
  }
  return promise
}

// The tool cannot lead here, only a clock or a registry that is broken.
function broken(error: unknown): CallResult {
  const form: OutputForm = { tool: '', encoding: 'envelope' }
  return { ...failed(form, 'error', 'tool_failed', describeThrown(error)), durationMs: 0 }
}

/** What a call comes to that is not to run at all. */
export function refuseCall(registry: Registry, call: CallRequest, refusal: Refusal): CallResult {
  return { ...refused(formOf(registry, call), refusal), durationMs: 0 }
}

/** A call on its way to its one result. */
class RunningCall {
  readonly #host: CallHost
  readonly #call: RunnableCall
  readonly #options: RunCallOptions
  readonly #resolve: (result: CallResult) => void
  readonly #form: OutputForm
  readonly #startMs: number
  readonly #stop = new AbortController()
  #disarm: (() => void) | null = null
  #isListening = false
  /** What the call is settled with, as soon as that is known. */
  #ending: Ending | null = null
  #isSettled = false

  constructor(
    host: CallHost,
    call: RunnableCall,
    options: RunCallOptions,
    resolve: (result: CallResult) => void,
  ) {
    this.#host = host
    this.#call = call
    this.#options = options
    this.#resolve = resolve
    this.#startMs = host.clock.now()
    this.#form = formOf(host.registry, call)
  }

  start(): void {
    const { timeoutMs } = this.#call
    if (this.#options.signal.aborted) {
      this.#resolve(this.#timed(cancelled(this.#form)))
      return
    }
    this.#disarm = this.#host.clock.setTimer(this.#startMs + timeoutMs, () =>
      this.#cut('timeout', timeout(this.#form, timeoutMs)),
    )
    void this.#work()
  }

  /** As a listener: the signal is aborted. */
  handleEvent(): void {
    this.#cut('cancelled', cancelled(this.#form))
  }

  // Never rejects: whatever the tool does, there is an ending.
  async #work(): Promise<void> {
    let ending: Ending
    try {
      const { registry, policy } = this.#host
      const admitted = admitCall(registry, policy, this.#call)
      if (admitted instanceof Promise) this.#listen()
      const { tool, value: args, verdict } = await admitted
      if (isRefusal(verdict)) ending = refused(this.#form, verdict)
      // Somebody agreed to what the log shows; the tool, or the place it works in, may be another one by now.
      else if (!this.#isApproved(tool, args))
        ending = failed(this.#form, 'not_allowed', 'approval_stale', STALE)
      // The call may have been settled while its arguments were checked.
      else if (this.#stop.signal.aborted) ending = cancelled(this.#form)
      else ending = ended(this.#form, await this.#execute(verdict))
    } catch (error) {
      // An error of ours says more than that the tool failed.
      const code = codeOf(error)
      const outcome = code === 'tool_timeout' ? 'timeout' : 'error'
      ending = failed(this.#form, outcome, code, describeThrown(error), 1)
    }
    // Who sees the output of a tool and cancels comes first, also where the tool has ended at once: that takes some microtasks.
    for (let waited = 0; waited < YIELDS; waited += 1) await NOTHING
    this.#end(ending)
  }

  #isApproved(tool: Tool | null, args: JsonObject | null): boolean {
    const { approvedHash } = this.#call
    return approvedHash === undefined || approvedHash === hashCall(this.#call, tool, args)
  }

  #execute(prepared: PreparedCall): unknown {
    const { signal } = this.#stop
    const value = prepared.execute({
      signal,
      callId: this.#call.callId,
      key: this.#call.key,
      onOutput: (stream, chunk) => this.#show(stream, chunk),
      // It ends with the call, also at the deadline of the call alone.
      runAgent: (agent, input) => (this.#options.runAgent ?? noAgents)(agent, input, signal),
    })
    // What is no object is there already.
    if (typeof value === 'object' || typeof value === 'function') this.#listen()
    return value
  }

  /** Hears of an abort while there is something to wait for; where there is not, it is enough to look afterwards. */
  #listen(): void {
    const { signal } = this.#options
    if (this.#isListening || this.#ending !== null) return
    if (signal.aborted) {
      this.handleEvent()
      return
    }
    this.#isListening = true
    signal.addEventListener('abort', this, ONCE)
  }

  #show(stream: 'stdout' | 'stderr', chunk: string): void {
    if (this.#isSettled || typeof chunk !== 'string') return
    quietly(() => this.#options.onOutput?.(stream === 'stderr' ? stream : 'stdout', chunk))
  }

  /** Settles the call without its tool; not within the timer or the abort itself, which are somebody else's code. */
  #cut(by: Cut, ending: Ending): void {
    if (this.#ending !== null) return
    this.#ending = ending
    queueMicrotask(() => this.#settle(ending, by))
  }

  /** Takes what the work came to, or tells it to whoever wants to know what a call that was cut would have been. */
  #end(ending: Ending): void {
    if (this.#ending === null) {
      const isCancelled = this.#options.signal.aborted
      this.#ending = isCancelled ? cancelled(this.#form) : ending
      this.#settle(this.#ending, isCancelled ? 'cancelled' : null)
      // Also where the tool reports a time limit of its own: that is what the call came to, and nothing comes behind it.
      if (!isCancelled) return
    }
    quietly(() => this.#options.onLate?.(this.#timed(ending)))
  }

  #settle(ending: Ending, cutBy: Cut | null): void {
    this.#isSettled = true
    try {
      this.#disarm?.()
      if (this.#isListening) this.#options.signal.removeEventListener('abort', this)
      if (cutBy !== null) {
        const code = cutBy === 'timeout' ? 'tool_timeout' : 'tool_cancelled'
        this.#stop.abort(new LoopchartError(code, outcomeText(cutBy)))
      }
      this.#resolve(this.#timed(ending))
    } catch (error) {
      this.#resolve(broken(error))
    }
  }

  #timed({ outcome, output, exitCode, artifacts, error }: Ending): CallResult {
    const durationMs = Math.max(0, this.#host.clock.now() - this.#startMs)
    return { outcome, output, exitCode, artifacts, error, durationMs }
  }
}

const ONCE = { once: true } as const
const YIELDS = 3
const NOTHING = Promise.resolve()

// A model can call a name of any length.
function formOf(registry: Registry, { name }: CallRequest): OutputForm {
  return { tool: name.slice(0, 64), encoding: registry.resolve(name)?.outputEncoding ?? 'envelope' }
}

const STALE = 'it was approved for other arguments or another place than it would run with now; call again'

function noAgents(): Promise<never> {
  return Promise.reject(new LoopchartError('usage', 'an agent can be run by a tool only within run()'))
}

function codeOf(thrown: unknown): ErrorCode {
  try {
    return thrown instanceof LoopchartError ? thrown.code : 'tool_failed'
  } catch {
    return 'tool_failed'
  }
}

function ended(form: OutputForm, value: unknown): Ending {
  const { output, exitCode, artifacts, fault, error } = encodeValue(form, value)
  if (fault !== null) {
    return { ...failure('error', 'tool_output_invalid', fault), output, exitCode, artifacts }
  }
  if (error !== null) {
    const outcome = error.code === 'tool_timeout' ? 'timeout' : 'error'
    return { outcome, error, output, exitCode, artifacts }
  }
  if (exitCode === 0) return { outcome: 'ok', output, exitCode, artifacts, error: null }
  const message = `the tool ended with exit code ${exitCode}`
  return { ...failure('error', 'tool_failed', message), output, exitCode, artifacts }
}

const REFUSAL_CODES: Readonly<Record<Refusal['outcome'], ErrorCode>> = {
  unknown_tool: 'tool_unknown',
  bad_arguments: 'tool_arguments_invalid',
  not_allowed: 'tool_not_allowed',
}

function refused(form: OutputForm, { outcome, message }: Refusal): Ending {
  return failed(form, outcome, REFUSAL_CODES[outcome], message)
}

function timeout(form: OutputForm, timeoutMs: number): Ending {
  return failed(form, 'timeout', 'tool_timeout', `it was given ${timeoutMs} ms`)
}

function cancelled(form: OutputForm): Ending {
  return failed(form, 'cancelled', 'tool_cancelled', '')
}

type Failure = Pick<Ending, 'outcome' | 'error'>

function failure(outcome: Failure['outcome'], code: ErrorCode, message: string): Failure {
  return { outcome, error: { code, message } }
}

function failed(
  form: OutputForm,
  outcome: Exclude<CallResult['outcome'], 'ok'>,
  code: ErrorCode,
  message: string,
  exitCode: number | null = null,
): Ending {
  const output = encodeFailure(form, outcome, message)
  return { ...failure(outcome, code, message), output, exitCode, artifacts: [] }
}

// A listener of ours that throws is no failure of the tool.
function quietly(action: () => void): void {
  try {
    action()
  } catch {
    // Nobody is left to tell.
  }
}
