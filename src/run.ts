import type { Inspect } from './inspect/inspection-event.ts'
import type { Agent } from './loop/agent.ts'
import { run as runLoop, type ResumeInput, type Run, type RunOptions as LoopOptions } from './loop/run.ts'
import type { RunInput } from './loop/run-input.ts'

export interface RunOptions extends LoopOptions {
  /**
   * Takes what happens to the run, as the stream of `loopchart/inspect`, from its start on, also when a stored run is
   * resumed. It is told a moment later than the log, and everything before `result` resolves. The run does not wait for
   * it; when it throws, it is told nothing more.
   */
  readonly inspect?: Inspect
}

/**
 * Runs an agent on an input, or goes on with a stored run. Wrong input throws at once, and so does a run that cannot be
 * taken up; everything else is how the run ends.
 */
export function run(agent: Agent, input: RunInput | ResumeInput, options: RunOptions = {}): Run {
  const { inspect, ...own } = options
  const started = runLoop(agent, input, own)
  return inspect === undefined ? started : inspected(started, inspect)
}

/** The same run, whose result waits until the inspector was told everything. */
function inspected(started: Run, inspect: Inspect): Run {
  const result = tellAll(started, inspect).then(() => started.result)
  // A result that nobody asks for is not an unhandled rejection.
  result.catch(() => undefined)
  return {
    id: started.id,
    result,
    get state() {
      return started.state
    },
    get children() {
      return started.children
    },
    [Symbol.asyncIterator]: () => started[Symbol.asyncIterator](),
    frames: (from) => started.frames(from),
    batches: (from) => started.batches(from),
    textStream: () => started.textStream(),
    explain: () => started.explain(),
    can: (command) => started.can(command),
    approve: (call, options) => started.approve(call, options),
    deny: (call, reason, options) => started.deny(call, reason, options),
    reconcile: (call, as, output) => started.reconcile(call, as, output),
    steer: (text) => started.steer(text),
    cancel: (reason) => started.cancel(reason),
    suspend: () => started.suspend(),
  }
}

// Loaded only here: whoever inspects nothing does not pay for it. No event is lost meanwhile, since the log of a run
// keeps every frame and is read from its first on.
async function tellAll(started: Run, inspect: Inspect): Promise<void> {
  const { followRun } = await import('./inspect/follow-run.ts')
  await followRun(started.frames(), inspect)
}
