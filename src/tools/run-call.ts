import { LoopchartError, type ErrorCode } from '../errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { admitCall, isRefusal, type CallRequest, type Refusal } from './admit-call.ts'
import { hashCall } from './appraise-call.ts'
import type { Clock } from '../clock.ts'
import { describeThrown } from './describe-thrown.ts'
import { encodeFailure, encodeValue, type ModelOutput, type OutputForm } from './encode-output.ts'
import { outcomeText } from './outcome-text.ts'
import type { Registry } from './registry.ts'
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
  readonly approvedHash?: string
}

export interface RunCallOptions {
  /** What the tool shows while it works. */
  readonly onOutput?: OutputListener
  /** What the tool answered after its call had been settled without it. For the log; nothing else uses it. */
  readonly onLate?: (result: CallResult) => void
  /** Runs an agent as the work of this call; without it, no tool can. */
  readonly runAgent?: (agent: object, input: string, signal: AbortSignal) => Promise<AgentResult>
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

/**
 * Runs one call. It never rejects and always settles: by what the tool gives or throws, at the deadline, or at
 * once when the signal is aborted, whatever the tool does then. Code that blocks the thread is out of reach:
 * run that in a process of its own.
 */
export async function runCall(
  host: CallHost,
  call: RunnableCall,
  options: RunCallOptions,
): Promise<CallResult> {
  try {
    return await settle(host, call, options)
  } catch (error) {
    // The tool cannot lead here, only a clock or a registry that is broken.
    const form: OutputForm = { tool: '', encoding: 'envelope' }
    return { ...failed(form, 'error', 'tool_failed', describeThrown(error)), durationMs: 0 }
  }
}

/** What a call comes to that is not to run at all. */
export function refuseCall(registry: Registry, call: CallRequest, refusal: Refusal): CallResult {
  return { ...refused(formOf(registry, call), refusal), durationMs: 0 }
}

async function settle(
  host: CallHost,
  call: RunnableCall,
  { onOutput, onLate, runAgent = noAgents, signal }: RunCallOptions,
): Promise<CallResult> {
  const { clock } = host
  const startMs = clock.now()
  const timed = (ending: Ending): CallResult => {
    return { ...ending, durationMs: Math.max(0, clock.now() - startMs) }
  }
  const form = formOf(host.registry, call)
  if (signal.aborted) return timed(cancelled(form))
  const stop = new AbortController()
  let isSettled = false
  const emit: OutputListener = (stream, chunk) => {
    if (isSettled || typeof chunk !== 'string') return
    onOutput?.(stream === 'stderr' ? stream : 'stdout', chunk)
  }
  const { promise, resolve } = Promise.withResolvers<Ending>()
  const onAbort = (): void => resolve(cancelled(form))
  const disarm = clock.setTimer(startMs + call.timeoutMs, () => resolve(timeout(form, call.timeoutMs)))
  signal.addEventListener('abort', onAbort, { once: true })
  const work = perform(host, call, form, { emit, runAgent, signal: stop.signal })
  void work.then(resolve)
  const ending = await promise
  isSettled = true
  disarm()
  signal.removeEventListener('abort', onAbort)
  if (ending.outcome === 'timeout' || ending.outcome === 'cancelled') {
    stop.abort(
      new LoopchartError(
        ending.outcome === 'timeout' ? 'tool_timeout' : 'tool_cancelled',
        outcomeText(ending.outcome),
      ),
    )
    void work.then((late) => quietly(() => onLate?.(timed(late))))
  }
  return timed(ending)
}

// A model can call a name of any length.
function formOf(registry: Registry, { name }: CallRequest): OutputForm {
  return { tool: name.slice(0, 64), encoding: registry.resolve(name)?.outputEncoding ?? 'envelope' }
}

// Never rejects: whatever the tool does, there is an ending.
async function perform(
  { registry, policy }: CallHost,
  call: RunnableCall,
  form: OutputForm,
  { emit, runAgent, signal }: CallIo,
): Promise<Ending> {
  try {
    const { tool, value: args, verdict } = await admitCall(registry, policy, call)
    if (isRefusal(verdict)) return refused(form, verdict)
    // Somebody agreed to what the log shows; the tool, or the place it works in, may be another one by now.
    if (call.approvedHash !== undefined && call.approvedHash !== hashCall(call, tool, args)) {
      return failed(form, 'not_allowed', 'approval_stale', STALE)
    }
    // The call may have been settled while its arguments were checked.
    if (signal.aborted) return cancelled(form)
    const value = await verdict.execute({
      signal,
      callId: call.callId,
      key: call.key,
      onOutput: (stream, chunk) => quietly(() => emit(stream, chunk)),
      // It ends with the call, also at the deadline of the call alone.
      runAgent: (agent, input) => runAgent(agent, input, signal),
    })
    return ended(form, value)
  } catch (error) {
    // An error of ours says more than that the tool failed.
    const code = codeOf(error)
    return failed(form, code === 'tool_timeout' ? 'timeout' : 'error', code, describeThrown(error), 1)
  }
}

interface CallIo {
  readonly emit: OutputListener
  readonly runAgent: NonNullable<RunCallOptions['runAgent']>
  readonly signal: AbortSignal
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
