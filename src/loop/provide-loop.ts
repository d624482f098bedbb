import { assign, fromCallback, fromPromise, sendParent, setup, type PromiseActorLogic } from 'xstate'

import { loopMachine } from '../../machines/loop.machine.ts'
import type { RespondInput, RespondOutput } from '../../machines/loop.types.ts'
import { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Agent } from './agent.ts'
import { Children } from './children.ts'
import { compact } from './compact.ts'
import { drain } from './drain.ts'
import type { EffectIo } from './effect.ts'
import { announceRequest, respond } from './respond.ts'
import { startRun } from './run.ts'
import { runTool, type RunToolValue } from './run-tool.ts'

export interface ProvideOptions {
  /** Names the run in frames and in the idempotency keys of its tools. */
  readonly runId: string
  /** Takes every event and output chunk as it is seen; nothing else keeps them here. It must not throw. */
  readonly onFrame?: (frame: Frame) => void
}

/**
 * The chart with an agent's effects as ordinary actors: for `createActor`, for `invoke` in a machine of your own, and
 * for an inspector of your own. Nothing is kept but the chart's state; `run()` is the way with a log. Each run needs a
 * machine of its own: two actors of one machine would share its `runId`, and so the idempotency keys of their tools.
 */
export function provideLoop(
  agent: Agent,
  { runId, onFrame = () => undefined }: ProvideOptions,
): typeof loopMachine {
  const stamp = new FrameStamp(runId, () => agent.clock.now())
  const calls = new Map<number, Promise<RunToolValue>>()
  const children = new Children(null, startRun)
  const io: MakeIo = (signal, opened = () => undefined) => ({
    runId,
    signal,
    stamp,
    // What was told to stop may go on for a while; nobody watches it any more.
    isWanted: () => !signal.aborted,
    observe: (frame) => {
      if (!signal.aborted) onFrame(frame)
    },
    opened,
    // An actor is its owner's to stop: there is no log that the run could be taken up from.
    suspend: () => undefined,
  })
  return loopMachine.provide({
    actors: {
      respond: respondLogic(agent, io),
      runTool: fromPromise(({ input, signal }) => {
        const running = runTool(agent, input, io(signal))
        calls.set(input.call.slot, running)
        return running
      }),
      timer: fromPromise(({ input, signal }) => waitUntil(agent, input.at, signal)),
      compact: fromPromise(({ input, signal }) => compact(agent, input, io(signal), children)),
      drain: fromPromise(({ input }) => drain(agent.clock, calls, input.slots)),
    },
  })
}

type MakeIo = (signal: AbortSignal, opened?: () => void) => EffectIo

type WorkEvent =
  | { readonly type: 'work.opened' }
  | { readonly type: 'work.settled'; readonly value: RespondOutput }
  | { readonly type: 'work.broke'; readonly error: unknown }

interface WorkTypes {
  readonly context: { readonly input: RespondInput; readonly value: RespondOutput | null }
  readonly events: WorkEvent
  readonly input: RespondInput
  readonly output: RespondOutput
}

/**
 * A promise cannot tell its parent that the first event is in, and a callback cannot give an output: so the request is
 * a machine of its own, with the one as its message and the other as its output.
 */
function respondLogic(agent: Agent, io: MakeIo): PromiseActorLogic<RespondOutput, RespondInput> {
  const work = fromCallback<WorkEvent, RespondInput>(({ input, sendBack }) => {
    const controller = new AbortController()
    const effectIo = io(controller.signal, () => sendBack({ type: 'work.opened' }))
    respond(agent, input, announceRequest(agent, input), effectIo).then(
      (value) => sendBack({ type: 'work.settled', value }),
      (error: unknown) => sendBack({ type: 'work.broke', error }),
    )
    return () => controller.abort()
  })
  const logic = setup({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-assertion -- how a machine is told its types
    types: {} as WorkTypes,
    actors: { work },
  }).createMachine({
    context: ({ input }) => ({ input, value: null }),
    initial: 'working',
    output: ({ context: { value } }) => {
      if (value === null) throw new Error('a request settled without a value')
      return value
    },
    states: {
      working: {
        invoke: { id: 'work', src: 'work', input: ({ context }) => context.input },
        on: {
          'work.opened': { actions: sendParent({ type: 'stream.opened' }) },
          'work.settled': { target: 'settled', actions: assign({ value: ({ event }) => event.value }) },
          'work.broke': {
            actions: ({ event }) => {
              throw event.error
            },
          },
        },
      },
      settled: { type: 'final' },
    },
  })
  // The chart names a promise. A machine has the same input, output and errors, and the chart reads nothing of its
  // snapshot; but xstate's type of a logic is invariant in the snapshot, so that no type fits both without a cast.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return logic as unknown as PromiseActorLogic<RespondOutput, RespondInput>
}

function waitUntil({ clock }: Agent, at: number | null, signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (at === null) return
    const disarm = clock.setTimer(at, () => resolve(null))
    signal.addEventListener('abort', disarm, { once: true })
  })
}
