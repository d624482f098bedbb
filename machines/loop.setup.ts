// What the chart's states ask and do, by name. The states themselves, and every way between them, are in
// loop.machine.ts.
import { fromPromise, setup } from 'xstate'

import {
  addUsage,
  answerCall,
  callOf,
  canAnswer,
  CANCELLED,
  changeCall,
  countCalls,
  headCall,
  isNotRunning,
  isOpen,
  newlySettled,
  nextBatch,
  questionsOf,
  runBatch,
  runningSlots,
  runToolInput,
  settleCall,
  settled,
  slotOf,
  toolId,
  type AnswerParams,
} from './call.rules.ts'
import { compactedTold, compactionCause, limitAfter, takeCompacted } from './compaction.rules.ts'
import {
  answersAndMessages,
  cancelledEnding,
  cutShortEnding,
  errorEnding,
  limitAfterCalls,
  limitEnding,
  reachedLimit,
  repairRequest,
  startNewChain,
  takeResponse,
  tokenLimit,
  wallTimeLimit,
  wantsMore,
  type ReachedLimit,
} from './loop.rules.ts'
import { perform, type LoopUpdate } from './perform.ts'
import type {
  CallAnswer,
  CompactInput,
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
    compact: fromPromise<CompactOutput, CompactInput>(notProvided),
    drain: fromPromise<DrainOutput, { readonly slots: readonly number[] }>(notProvided),
  },
  guards: {
    isResponse: (_, { output }: { output: RespondOutput }) => output.ok,
    canSwitchMode: ({ context }, { output }: { output: RespondOutput }) =>
      !output.ok &&
      output.error.isContinuity &&
      context.settings.maySwitchMode &&
      context.route.mode === 'previous_response_id' &&
      // A run that went on from an earlier one knows no more than that this response is gone.
      !(output.error.isLost && context.response === null),
    canStartNewChain: ({ context: { route, responseId } }, { output }: { output: RespondOutput }) =>
      !output.ok && output.error.isLost && route.mode === 'previous_response_id' && responseId !== null,
    canRetry: ({ context }, { output }: { output: RespondOutput }) =>
      !output.ok &&
      output.error.retryAt !== null &&
      context.attempt - context.route.since <
        Math.min(context.settings.retriesMax, output.error.retriesMax ?? Infinity),
    canFallBack: ({ context: { route, settings } }, { output }: { output: RespondOutput }) =>
      !output.ok && output.error.isFallback && route.model < settings.fallbackModes.length,
    isWrapUp: ({ context }) => context.kind === 'wrap_up',
    canSteer: ({ context }) => context.kind !== 'wrap_up',
    isCutShort: ({ context }) =>
      context.response?.status === 'incomplete' && context.settings.onIncomplete === 'stop',
    isOverLimit: ({ context }) => wantsMore(context) && reachedLimit(context) !== null,
    isOverLimitToWrapUp: ({ context }) =>
      context.settings.onLimit === 'wrap_up' && wantsMore(context) && reachedLimit(context) !== null,
    hasCalls: ({ context }) => (context.response?.calls.length ?? 0) > 0,
    isToContinue: ({ context }) => context.response?.status === 'incomplete',
    canRepair: ({ context }) =>
      context.response?.formatFault != null && context.repairs < context.settings.repairsMax,
    hasWrongFormat: ({ context }) => context.response?.formatFault != null,
    hasSteer: ({ context }) => context.steers.length > 0,
    isAllSettled: ({ context }) => headCall(context) === null,
    isHeadUndecided: ({ context }) => headCall(context)?.status === 'undecided',
    isHeadInDoubt: ({ context }) => headCall(context)?.status === 'inDoubt',
    isNoneRunning: ({ context }) => context.calls.every(isNotRunning),
    canAnswer: ({ context }, params: AnswerParams) => canAnswer(context, params),
    isHeadDecided: ({ context }) => headCall(context)?.status !== 'undecided',
    isHeadCertain: ({ context }) => headCall(context)?.status !== 'inDoubt',
    canRerun: ({ context }, { callId, as }: { callId: string; as: string }) =>
      as === 'rerun' && context.calls.some(isOpen(callId, 'inDoubt')),
    isInDoubt: ({ context }, { callId }: { callId: string }) => context.calls.some(isOpen(callId, 'inDoubt')),
    isNamed: (_, { id, name }: { id: string; name: string }) => id === name,
    isRunning: ({ context }, { id }: { id: string }) => callOf(context, id)?.status === 'running',
    isSafeToRepeat: ({ context }, { id, isUntouched = false }: { id: string; isUntouched?: boolean }) => {
      const call = callOf(context, id)
      if (call?.status !== 'running') return false
      const { readOnly, idempotent, refusal } = call.facts
      return isUntouched || readOnly || idempotent || refusal !== null
    },
    isUsedUp: ({ context }) => headCall(context) === null && limitAfterCalls(context) !== null,
    isUsedUpToWrapUp: ({ context }) =>
      context.settings.onLimit === 'wrap_up' &&
      headCall(context) === null &&
      limitAfterCalls(context) !== null,
    needsCompaction: ({ context }) => compactionCause(context) !== null,
    isSpent: ({ context }, { output }: { output: CompactOutput }) => limitAfter(context, output) !== null,
    isSpentToWrapUp: ({ context }, { output }: { output: CompactOutput }) =>
      context.settings.onLimit === 'wrap_up' && limitAfter(context, output) !== null,
    isCompacted: (_, { output }: { output: CompactOutput }) => output.ok,
    endsCancelled: ({ context }) => context.ending?.state === 'cancelled',
    endsLimitExceeded: ({ context }) => context.ending?.state === 'limitExceeded',
  },
  actions: {
    takeResponse: perform((context, { output }: { output: RespondOutput }) =>
      output.ok ? { change: takeResponse(context, output.response) } : {},
    ),
    noteError: perform((context, { output }: { output: RespondOutput }) =>
      output.ok ? {} : { change: { error: output.error, usage: addUsage(context.usage, output.usage) } },
    ),
    countAttempt: perform(({ attempt }) => ({ change: { attempt: attempt + 1 } })),
    announceRetry: perform(({ error, attempt }) => ({
      tell: [
        {
          type: 'retry_scheduled',
          cause: error?.code ?? 'unknown',
          attempt,
          retryAt: error?.retryAt ?? 0,
        },
      ],
    })),
    goStateless: perform((context) => ({ change: startNewChain(context, 'stateless') })),
    // Before the id is forgotten.
    announceLostChain: perform(({ error, responseId }) => ({
      tell: [
        {
          type: 'cursor_updated',
          reason: error?.code ?? 'unknown',
          previousResponseId: responseId ?? '',
        },
      ],
    })),
    startNewChain: perform((context) => ({ change: startNewChain(context) })),
    // Another provider knows nothing of the conversation: all of it is sent.
    fallBack: perform(({ route, attempt, settings }) => ({
      change: {
        route: {
          model: route.model + 1,
          mode: settings.fallbackModes[route.model] ?? 'stateless',
          since: attempt + 1,
        },
        attempt: attempt + 1,
        responseId: null,
        knownItems: 0,
      },
    })),
    announceFallBack: perform(({ route, error }) => ({
      tell: [
        {
          type: 'provider_switched',
          cause: error?.code ?? 'unknown',
          from: route.model - 1,
          to: route.model,
        },
      ],
    })),
    announceSwitch: perform(({ error }) => ({
      tell: [{ type: 'continuity_switched', cause: error?.code ?? 'unknown' }],
    })),
    countCalls: perform((context) => ({
      change: { counts: countCalls(context) },
      tell: newlySettled([], context.calls),
    })),
    // All at once: whoever is asked can answer in any order, and while others run.
    askAboutCalls: perform((context) => ({ tell: questionsOf(context) })),
    answerAllWithLimit: perform((context) => {
      const calls = changeCall(
        context.calls,
        ({ answer }) => answer === null,
        () => settled('limit', null),
      )
      return { change: { calls }, tell: newlySettled([], calls) }
    }),
    reachLimit: perform((context) => reached(reachedLimit(context))),
    // Not the same as reachLimit: the calls of this response are counted by now and would count twice there.
    reachLimitAfterCalls: perform((context) => reached(limitAfterCalls(context))),
    reachTokenLimit: perform((context) => reached(tokenLimit(context))),
    // Its request will not go out.
    takeBackTurn: perform(({ turn }) => ({ change: { turn: turn - 1 } })),
    reachWallTime: perform((context) => reached(wallTimeLimit(context))),
    end: perform((_, ending: LoopEnding) => ({ change: { ending } })),
    endCancelled: perform((_, { reason }: { reason?: string }) => ({
      change: { ending: cancelledEnding(reason) },
    })),
    endWithError: perform(({ error }) => ({ change: { ending: errorEnding(error) } })),
    endCutShort: perform(({ response }) => ({ change: { ending: cutShortEnding(response) } })),
    wrapUp: perform(() => ({ change: { kind: 'wrap_up' } })),
    askForRepair: perform(({ repairs, steers, response }) => ({
      change: { repairs: repairs + 1, steers: [...steers, { text: repairRequest(response), by: 'loop' }] },
    })),
    askToContinue: perform(({ steers, settings }) => ({
      change: { steers: [...steers, { text: settings.continueMessage, by: 'loop' }] },
    })),
    queueSteer: perform(({ steers }, { text }: { text: string }) => ({
      change: { steers: [...steers, { text }] },
    })),
    approve: perform((context, { callId, remember }: Answered) => ({
      change: answerCall(context, callId, { isApproved: true, reason: '' }, remember ?? null),
    })),
    deny: perform((context, { callId, reason, remember }: Answered & { reason: string }) => {
      const change = answerCall(context, callId, { isApproved: false, reason }, remember ?? null)
      return { change, tell: newlySettled(context.calls, change.calls) }
    }),
    startBatch: perform((context) => {
      const batch = nextBatch(context)
      return {
        change: { calls: runBatch(context.calls, batch) },
        tell: [{ type: 'batch_planned', slots: batch.map(slotOf) }],
        start: batch.map((call) => ({
          id: toolId(call.slot),
          input: runToolInput(context, call, call.attempt),
        })),
      }
    }),
    repeatCall: perform((context, { id }: { id: string }) => {
      const { calls } = context
      const call = callOf(context, id)
      if (call === null) return {}
      const attempt = call.attempt + 1
      return {
        stop: [id],
        change: {
          calls: changeCall(
            calls,
            ({ slot }) => slot === call.slot,
            () => ({ attempt }),
          ),
        },
        start: [{ id, input: runToolInput(context, call, attempt) }],
      }
    }),
    settleCall: perform((context, { id, output }: { id: string; output: RunToolOutput }) => ({
      change: settleCall(context, id, output),
    })),
    doubt: perform(({ calls }, { id }: { id: string }) => ({
      change: {
        calls: changeCall(
          calls,
          ({ slot }) => toolId(slot) === id,
          () => ({ status: 'inDoubt' }),
        ),
      },
    })),
    abortCalls: perform((context) => ({ stop: runningSlots(context).map(toolId) })),
    dropChild: perform((_, { id }: { id: string }) => ({ stop: [id] })),
    rerun: perform(({ calls }, { callId }: { callId: string }) => ({
      change: {
        calls: changeCall(calls, isOpen(callId, 'inDoubt'), ({ attempt }) => ({
          status: 'runnable',
          attempt: attempt + 1,
        })),
      },
    })),
    reconcile: perform(({ calls: before }, { callId, answer }: { callId: string; answer: CallAnswer }) => {
      const calls = changeCall(before, isOpen(callId, 'inDoubt'), () => ({ status: 'settled', answer }))
      return { change: { calls }, tell: newlySettled(before, calls) }
    }),
    followUp: perform((context) => ({
      change: {
        items: context.items.concat(answersAndMessages(context)),
        kind: context.kind === 'wrap_up' ? 'wrap_up' : 'follow_up',
        turn: context.turn + 1,
        attempt: 0,
        route: context.route.since === 0 ? context.route : { ...context.route, since: 0 },
        calls: [],
        steers: [],
        error: null,
      },
    })),
    takeCompacted: perform((context, { output }: { output: CompactOutput }) => ({
      change: takeCompacted(context, output),
      tell: compactedTold(context, output),
    })),
    settleDrained: perform(({ calls: before, usage }, { output }: { output: DrainOutput }) => {
      const calls = changeCall(
        before,
        ({ status }) => status === 'running',
        ({ slot }) => ({
          status: 'settled',
          answer: output.find((drained) => drained.slot === slot)?.answer ?? CANCELLED,
        }),
      )
      const used = output.reduce((sum, drained) => addUsage(sum, drained.usage), usage)
      return { change: { calls, usage: used }, tell: newlySettled(before, calls) }
    }),
  },
})

type Answered = Pick<AnswerParams, 'callId' | 'remember'>

function reached(limit: ReachedLimit | null): LoopUpdate {
  if (limit === null) return {}
  return { change: { ending: limitEnding(limit) }, tell: [{ type: 'limit_reached', ...limit }] }
}

function notProvided(): never {
  throw new Error('the chart was started without its effects: use provideLoop()')
}
