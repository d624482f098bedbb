// What the chart's states ask and do, by name. The states themselves, and every way between them, are in
// loop.machine.ts.
import { assign, emit, enqueueActions, fromPromise, setup, stopChild } from 'xstate'

import {
  addUsage,
  answersAndMessages,
  CANCELLED,
  cancelledEnding,
  changeCall,
  countCalls,
  cutShortEnding,
  errorEnding,
  headCall,
  isOpen,
  limitEnding,
  needsCompaction,
  newlySettled,
  nextBatch,
  proposeCalls,
  reachedLimit,
  repairRequest,
  runningSlots,
  settleCall,
  settled,
  stuckLimit,
  takeResponse,
  toolId,
  wallTimeLimit,
  wantsMore,
} from './loop.rules.ts'
import type {
  CallAnswer,
  CompactOutput,
  DrainOutput,
  LoopContext,
  LoopEmitted,
  LoopEnding,
  LoopEvent,
  LoopInput,
  LoopOutput,
  RespondInput,
  RespondOutput,
  RunToolInput,
  RunToolOutput,
} from './loop.types.ts'

export const loopSetup = setup({
  types: {
    context: {} as LoopContext,
    events: {} as LoopEvent,
    input: {} as LoopInput,
    output: {} as LoopOutput,
    emitted: {} as LoopEmitted,
    tags: {} as 'network' | 'tools' | 'waiting' | 'final',
    meta: {} as { readonly doc: string },
    transitionMeta: {} as { readonly doc: string },
  },
  actors: {
    respond: fromPromise<RespondOutput, RespondInput>(notProvided),
    runTool: fromPromise<RunToolOutput, RunToolInput>(notProvided),
    timer: fromPromise<null, { readonly at: number | null }>(notProvided),
    compact: fromPromise<CompactOutput, { readonly items: LoopContext['items'] }>(notProvided),
    drain: fromPromise<DrainOutput, { readonly slots: readonly number[] }>(notProvided),
  },
  guards: {
    isResponse: (_, { output }: { output: RespondOutput }) => output.ok,
    canSwitchMode: ({ context }, { output }: { output: RespondOutput }) =>
      !output.ok &&
      output.error.isContinuity &&
      context.settings.maySwitchMode &&
      context.mode === 'previous_response_id',
    canRetry: ({ context }, { output }: { output: RespondOutput }) =>
      !output.ok &&
      output.error.retryAt !== null &&
      context.attempt < Math.min(context.settings.retriesMax, output.error.retriesMax ?? Infinity),
    isWrapUp: ({ context }) => context.kind === 'wrap_up',
    canSteer: ({ context }) => context.kind !== 'wrap_up',
    isCutShort: ({ context }) =>
      context.response?.status === 'incomplete' && context.settings.onIncomplete === 'stop',
    isOverLimit: ({ context }) => wantsMore(context) && reachedLimit(context) !== null,
    isOverLimitToWrapUp: ({ context }) =>
      wantsMore(context) && reachedLimit(context) !== null && context.settings.onLimit === 'wrap_up',
    hasCalls: ({ context }) => (context.response?.calls.length ?? 0) > 0,
    isToContinue: ({ context }) => context.response?.status === 'incomplete',
    canRepair: ({ context }) =>
      context.response?.formatFault != null && context.repairs < context.settings.repairsMax,
    hasWrongFormat: ({ context }) => context.response?.formatFault != null,
    hasSteer: ({ context }) => context.steers.length > 0,
    isAllSettled: ({ context }) => headCall(context) === null,
    isHeadUndecided: ({ context }) => headCall(context)?.status === 'undecided',
    isHeadInDoubt: ({ context }) => headCall(context)?.status === 'inDoubt',
    isNoneRunning: ({ context }) => context.calls.every(({ status }) => status !== 'running'),
    isUndecided: ({ context }, { callId }: { callId: string }) =>
      context.calls.some(isOpen(callId, 'undecided')),
    isHead: ({ context }, { callId }: { callId: string }) => headCall(context)?.callId === callId,
    isHeadDecided: ({ context }) => headCall(context)?.status !== 'undecided',
    isHeadCertain: ({ context }) => headCall(context)?.status !== 'inDoubt',
    canRerun: ({ context }, { callId, as }: { callId: string; as: string }) =>
      as === 'rerun' && context.calls.some(isOpen(callId, 'inDoubt')),
    isInDoubt: ({ context }, { callId }: { callId: string }) => context.calls.some(isOpen(callId, 'inDoubt')),
    isNamed: (_, { id, name }: { id: string; name: string }) => id === name,
    isRunning: ({ context }, { id }: { id: string }) =>
      context.calls.some((call) => toolId(call.slot) === id && call.status === 'running'),
    isSafeToRepeat: ({ context }, { id }: { id: string }) =>
      context.calls.some(
        (call) =>
          toolId(call.slot) === id &&
          call.status === 'running' &&
          (call.facts.readOnly || call.facts.idempotent || call.facts.refusal !== null),
      ),
    isStuck: ({ context }) => headCall(context) === null && stuckLimit(context) !== null,
    isStuckToWrapUp: ({ context }) =>
      headCall(context) === null && stuckLimit(context) !== null && context.settings.onLimit === 'wrap_up',
    needsCompaction: ({ context }) => needsCompaction(context),
    isCompacted: (_, { output }: { output: CompactOutput }) => output.ok,
    endsCancelled: ({ context }) => context.ending?.state === 'cancelled',
    endsLimitExceeded: ({ context }) => context.ending?.state === 'limitExceeded',
  },
  actions: {
    takeResponse: assign(({ context }, { output }: { output: RespondOutput }) =>
      output.ok ? takeResponse(context, output.response) : {},
    ),
    noteError: assign(({ context }, { output }: { output: RespondOutput }) =>
      output.ok ? {} : { error: output.error, usage: addUsage(context.usage, output.usage) },
    ),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
    announceRetry: emit(({ context }) => ({
      type: 'retry_scheduled' as const,
      cause: context.error?.code ?? 'unknown',
      attempt: context.attempt,
      retryAt: context.error?.retryAt ?? 0,
    })),
    goStateless: assign({ mode: 'stateless' as const, responseId: null, knownItems: 0 }),
    announceSwitch: emit(({ context }) => ({
      type: 'continuity_switched' as const,
      cause: context.error?.code ?? 'unknown',
    })),
    proposeCalls: enqueueActions(({ context, enqueue }) => {
      const calls = proposeCalls(context)
      enqueue.assign({ calls, ...countCalls(context, calls) })
      for (const told of newlySettled([], calls)) enqueue.emit(told)
    }),
    answerAllWithLimit: enqueueActions(({ context, enqueue }) => {
      const calls = changeCall(
        proposeCalls(context),
        ({ answer }) => answer === null,
        () => settled('limit', null),
      )
      enqueue.assign({ calls })
      for (const told of newlySettled([], calls)) enqueue.emit(told)
    }),
    reachLimit: enqueueActions(({ context, enqueue }) => {
      const reached = reachedLimit(context)
      if (reached === null) return
      enqueue.assign({ ending: limitEnding(reached) })
      enqueue.emit({ type: 'limit_reached', ...reached })
    }),
    // Not the same as reachLimit: the calls of this response are counted by now and would count twice there.
    reachStuckLimit: enqueueActions(({ context, enqueue }) => {
      const reached = stuckLimit(context)
      if (reached === null) return
      enqueue.assign({ ending: limitEnding(reached) })
      enqueue.emit({ type: 'limit_reached', ...reached })
    }),
    reachWallTime: enqueueActions(({ context, enqueue }) => {
      const reached = wallTimeLimit(context)
      enqueue.assign({ ending: limitEnding(reached) })
      enqueue.emit({ type: 'limit_reached', ...reached })
    }),
    end: assign((_, ending: LoopEnding) => ({ ending })),
    endCancelled: assign((_, { reason }: { reason?: string }) => ({ ending: cancelledEnding(reason) })),
    endWithError: assign(({ context }) => ({ ending: errorEnding(context.error) })),
    endCutShort: assign(({ context }) => ({ ending: cutShortEnding(context.response) })),
    wrapUp: assign({ kind: 'wrap_up' as const }),
    askForRepair: assign(({ context }) => ({
      repairs: context.repairs + 1,
      steers: [...context.steers, repairRequest(context.response)],
    })),
    askToContinue: assign(({ context }) => ({
      steers: [...context.steers, context.settings.continueMessage],
    })),
    queueSteer: assign(({ context }, { text }: { text: string }) => ({ steers: [...context.steers, text] })),
    requestApproval: emit(({ context }) => ({
      type: 'approval_requested' as const,
      callId: headCall(context)?.callId ?? '',
    })),
    approve: assign(({ context }, { callId }: { callId: string }) => ({
      calls: changeCall(context.calls, isOpen(callId, 'undecided'), () => ({ status: 'runnable' })),
    })),
    deny: enqueueActions(({ context, enqueue }, { callId, reason }: { callId: string; reason: string }) => {
      const calls = changeCall(context.calls, isOpen(callId, 'undecided'), () => settled('denied', reason))
      enqueue.assign({ calls })
      for (const told of newlySettled(context.calls, calls)) enqueue.emit(told)
    }),
    startBatch: enqueueActions(({ context, enqueue }) => {
      const batch = nextBatch(context)
      const slots = batch.map(({ slot }) => slot)
      enqueue.assign({
        calls: changeCall(
          context.calls,
          ({ slot }) => slots.includes(slot),
          () => ({ status: 'running' }),
        ),
      })
      enqueue.emit({ type: 'batch_planned', slots })
      for (const call of batch) {
        const input = { turn: context.turn, call, attempt: call.attempt }
        enqueue.spawnChild('runTool', { id: toolId(call.slot), input })
      }
    }),
    repeatCall: enqueueActions(({ context, enqueue }, { id }: { id: string }) => {
      const call = context.calls.find(({ slot }) => toolId(slot) === id)
      if (call === undefined) return
      const attempt = call.attempt + 1
      enqueue.stopChild(id)
      enqueue.assign({
        calls: changeCall(
          context.calls,
          ({ slot }) => slot === call.slot,
          () => ({ attempt }),
        ),
      })
      enqueue.spawnChild('runTool', { id, input: { turn: context.turn, call, attempt } })
    }),
    settleCall: assign(({ context }, { id, output }: { id: string; output: RunToolOutput }) =>
      settleCall(context, id, output),
    ),
    doubt: assign(({ context }, { id }: { id: string }) => ({
      calls: changeCall(
        context.calls,
        ({ slot }) => toolId(slot) === id,
        () => ({ status: 'inDoubt' }),
      ),
    })),
    abortCalls: enqueueActions(({ context, enqueue }) => {
      for (const slot of runningSlots(context)) enqueue.stopChild(toolId(slot))
    }),
    dropChild: stopChild((_, { id }: { id: string }) => id),
    rerun: assign(({ context }, { callId }: { callId: string }) => ({
      calls: changeCall(context.calls, isOpen(callId, 'inDoubt'), ({ attempt }) => ({
        status: 'runnable',
        attempt: attempt + 1,
      })),
    })),
    reconcile: enqueueActions(
      ({ context, enqueue }, { callId, answer }: { callId: string; answer: CallAnswer }) => {
        const calls = changeCall(context.calls, isOpen(callId, 'inDoubt'), () => ({
          status: 'settled',
          answer,
        }))
        enqueue.assign({ calls })
        for (const told of newlySettled(context.calls, calls)) enqueue.emit(told)
      },
    ),
    followUp: assign(({ context }) => ({
      items: [...context.items, ...answersAndMessages(context)],
      kind: context.kind === 'wrap_up' ? ('wrap_up' as const) : ('follow_up' as const),
      turn: context.turn + 1,
      attempt: 0,
      calls: [],
      steers: [],
      error: null,
    })),
    takeCompacted: assign(({ context }, { output }: { output: CompactOutput }) =>
      output.ok
        ? {
            items: output.items,
            knownItems: 0,
            responseId: null,
            usage: addUsage(context.usage, output.usage),
          }
        : {},
    ),
    announceCompacted: emit(({ context }, { output }: { output: CompactOutput }) => ({
      type: 'history_compacted' as const,
      before: context.items.length,
      after: output.ok ? output.items.length : context.items.length,
    })),
    settleDrained: enqueueActions(({ context, enqueue }, { output }: { output: DrainOutput }) => {
      const calls = changeCall(
        context.calls,
        ({ status }) => status === 'running',
        ({ slot }) => ({
          status: 'settled',
          answer: output.find((drained) => drained.slot === slot)?.answer ?? CANCELLED,
        }),
      )
      enqueue.assign({ calls })
      for (const told of newlySettled(context.calls, calls)) enqueue.emit(told)
    }),
  },
})

function notProvided(): never {
  throw new Error('the chart was started without its effects: use provideLoop()')
}
