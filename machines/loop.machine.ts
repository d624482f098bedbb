// The agent loop. Every state a run can be in and every way between them is here; what the states need from the
// outside are the five actors of loop.setup.ts, filled in by src/loop. No clock, no ids, no input or output: time and
// ids arrive in events, so the same events always give the same states.
import { runningSlots } from './call.rules.ts'
import { compactInput } from './compaction.rules.ts'
import { ENDINGS, initialContext, loopOutput, outputOf, respondInput, told } from './loop.rules.ts'
import { loopSetup } from './loop.setup.ts'

/** Changes whenever a stored run could not be folded through the chart any more. */
export const CHART_VERSION = '1'

export const loopMachine = loopSetup.createMachine({
  id: 'loop',
  context: ({ input }) => initialContext(input),
  initial: 'working',
  output: ({ context }) => loopOutput(context),
  options: { maxIterations: 100 },
  states: {
    working: {
      meta: { doc: 'The run goes on. Holds the one cancel and the one deadline.' },
      initial: 'responding',
      invoke: {
        id: 'deadline',
        src: 'timer',
        input: ({ context }) => ({ at: context.deadline.deadlineAt }),
        onDone: {
          target: 'stopping',
          meta: { doc: 'Wall time is up; it always stops.' },
          actions: 'reachWallTime',
        },
      },
      on: {
        'run.cancel': {
          target: 'stopping',
          meta: { doc: 'Somebody cancelled the run.' },
          actions: { type: 'endCancelled', params: ({ event }) => event },
        },
        'xstate.error.actor.*': {
          target: 'stopping',
          meta: { doc: 'Effects settle; a rejection is a bug.' },
          actions: { type: 'end', params: ENDINGS.internalError },
        },
        'run.steer': {
          guard: 'canSteer',
          meta: { doc: 'A message for the next request.' },
          actions: { type: 'queueSteer', params: ({ event }) => ({ text: event.text }) },
        },
      },
      states: {
        responding: {
          meta: { doc: 'A request is out and its response is read.' },
          tags: ['network'],
          initial: 'requesting',
          invoke: {
            id: 'respond',
            src: 'respond',
            input: ({ context }) => respondInput(context),
            onDone: [
              {
                guard: { type: 'isResponse', params: outputOf },
                target: 'assembling',
                meta: { doc: 'The response ended as a response should.' },
                actions: { type: 'takeResponse', params: outputOf },
              },
              {
                guard: { type: 'canSwitchMode', params: outputOf },
                target: 'responding',
                reenter: true,
                meta: { doc: 'The provider cannot continue by id: the whole conversation is sent instead.' },
                actions: [{ type: 'noteError', params: outputOf }, 'goStateless', 'announceSwitch'],
              },
              {
                guard: { type: 'canStartNewChain', params: outputOf },
                target: 'responding',
                reenter: true,
                meta: { doc: 'The provider has lost the response to continue from: a new chain is begun.' },
                actions: [{ type: 'noteError', params: outputOf }, 'announceLostChain', 'startNewChain'],
              },
              {
                guard: { type: 'canRetry', params: outputOf },
                target: 'backingOff',
                meta: { doc: 'The request may be sent again, later.' },
                actions: [{ type: 'noteError', params: outputOf }, 'countAttempt', 'announceRetry'],
              },
              {
                guard: { type: 'canFallBack', params: outputOf },
                target: 'responding',
                reenter: true,
                meta: { doc: 'The next model of the list is asked instead.' },
                actions: [{ type: 'noteError', params: outputOf }, 'fallBack', 'announceFallBack'],
              },
              {
                guard: 'isWrapUp',
                target: '#loop.limitExceeded',
                meta: { doc: 'The last word was not to be had; the limit is why the run ends.' },
                actions: { type: 'noteError', params: outputOf },
              },
              {
                target: '#loop.failed',
                meta: { doc: 'The request failed for good.' },
                actions: [{ type: 'noteError', params: outputOf }, 'endWithError'],
              },
            ],
          },
          on: {
            'effect.inDoubt': {
              guard: { type: 'isNamed', params: ({ event }) => ({ id: event.id, name: 'respond' }) },
              target: 'responding',
              reenter: true,
              meta: { doc: 'The response was half read when the process died: it is asked for again.' },
              actions: 'countAttempt',
            },
          },
          states: {
            requesting: {
              meta: { doc: 'No event of the response has come yet.' },
              on: { 'stream.opened': { target: 'streaming', meta: { doc: 'The first event is in.' } } },
            },
            streaming: { meta: { doc: 'Events are coming in.' } },
          },
        },
        backingOff: {
          meta: { doc: 'Waits until the request may be sent again.' },
          tags: ['waiting'],
          invoke: {
            id: 'backoff',
            src: 'timer',
            input: ({ context }) => ({ at: context.error?.retryAt ?? 0 }),
            onDone: { target: 'responding', meta: { doc: 'The wait is over.' } },
          },
        },
        assembling: {
          meta: { doc: 'Decides what the response asks for.' },
          always: [
            {
              guard: 'isWrapUp',
              target: '#loop.limitExceeded',
              meta: { doc: 'This was the last word that a limit allowed.' },
            },
            {
              guard: 'isCutShort',
              target: '#loop.failed',
              meta: { doc: 'The provider cut the response short; its calls are not run.' },
              actions: 'endCutShort',
            },
            {
              guard: 'isOverLimitToWrapUp',
              target: 'followingUp',
              meta: { doc: 'A limit is used up: open calls are answered so, and the model has a last word.' },
              actions: ['reachLimit', 'answerAllWithLimit', 'wrapUp'],
            },
            {
              guard: 'isOverLimit',
              target: '#loop.limitExceeded',
              meta: { doc: 'A limit is used up: no further call runs.' },
              actions: 'reachLimit',
            },
            {
              guard: 'hasCalls',
              target: 'executing',
              meta: { doc: 'The response calls for tools.' },
              actions: ['countCalls', 'askAboutCalls'],
            },
            {
              guard: 'canRepair',
              target: 'followingUp',
              meta: { doc: 'The answer has the wrong format and goes back.' },
              actions: 'askForRepair',
            },
            {
              guard: 'hasWrongFormat',
              target: '#loop.failed',
              meta: { doc: 'The answer still has the wrong format.' },
              actions: { type: 'end', params: ENDINGS.wrongFormat },
            },
            {
              guard: 'isToContinue',
              target: 'followingUp',
              meta: { doc: 'The response was cut short and may go on.' },
              actions: 'askToContinue',
            },
            { guard: 'hasSteer', target: 'followingUp', meta: { doc: 'Somebody has more to say.' } },
            { target: '#loop.done', meta: { doc: 'Nothing is left to do.' } },
          ],
        },
        executing: {
          meta: { doc: 'Calls are decided and run, in output order.' },
          tags: ['tools'],
          initial: 'choosing',
          on: {
            'call.approve': {
              guard: { type: 'canAnswer', params: ({ event }) => event },
              meta: { doc: 'A call may run.' },
              actions: { type: 'approve', params: ({ event }) => event },
            },
            'call.deny': {
              guard: { type: 'canAnswer', params: ({ event }) => event },
              meta: { doc: 'A call may not run.' },
              actions: { type: 'deny', params: ({ event }) => event },
            },
            'call.reconcile': [
              {
                guard: { type: 'canRerun', params: ({ event }) => ({ callId: event.callId, as: event.as }) },
                meta: { doc: 'A call whose outcome is unknown runs again.' },
                actions: { type: 'rerun', params: ({ event }) => ({ callId: event.callId }) },
              },
              {
                guard: { type: 'isInDoubt', params: ({ event }) => ({ callId: event.callId }) },
                meta: { doc: 'Somebody says how a call ended.' },
                actions: {
                  type: 'reconcile',
                  params: ({ event }) => ({ callId: event.callId, answer: told(event) }),
                },
              },
            ],
          },
          states: {
            choosing: {
              meta: { doc: 'Decides which calls run next.' },
              always: [
                {
                  guard: 'isUsedUpToWrapUp',
                  target: '#loop.working.followingUp',
                  meta: { doc: 'The calls lead nowhere, or used up the rest: the model has a last word.' },
                  actions: ['reachLimitAfterCalls', 'wrapUp'],
                },
                {
                  guard: 'isUsedUp',
                  target: '#loop.limitExceeded',
                  meta: { doc: 'The calls lead nowhere, or used up the rest.' },
                  actions: 'reachLimitAfterCalls',
                },
                {
                  guard: 'isAllSettled',
                  target: '#loop.working.followingUp',
                  meta: { doc: 'Every call has its outcome.' },
                },
                {
                  guard: 'isHeadInDoubt',
                  target: 'reconciling',
                  meta: { doc: 'The next call may have run already.' },
                },
                {
                  guard: 'isHeadUndecided',
                  target: 'awaitingApproval',
                  meta: { doc: 'The next call needs a yes.' },
                },
                { target: 'running', meta: { doc: 'The next calls may run.' } },
              ],
            },
            awaitingApproval: {
              meta: { doc: 'Somebody must say whether the next call may run.' },
              tags: ['waiting'],
              always: { guard: 'isHeadDecided', target: 'choosing', meta: { doc: 'It was decided.' } },
            },
            running: {
              meta: { doc: 'A batch of calls runs.' },
              entry: 'startBatch',
              always: { guard: 'isNoneRunning', target: 'choosing', meta: { doc: 'The batch is through.' } },
              on: {
                'xstate.done.actor.tool.*': {
                  guard: { type: 'isRunning', params: ({ event }) => ({ id: event.actorId }) },
                  meta: { doc: 'A call ended.' },
                  actions: [
                    {
                      type: 'settleCall',
                      params: ({ event }) => ({ id: event.actorId, output: event.output }),
                    },
                    { type: 'dropChild', params: ({ event }) => ({ id: event.actorId }) },
                  ],
                },
                'effect.inDoubt': [
                  {
                    guard: { type: 'isSafeToRepeat', params: ({ event }) => event },
                    meta: { doc: 'The call was cut off and may safely run again.' },
                    actions: { type: 'repeatCall', params: ({ event }) => ({ id: event.id }) },
                  },
                  {
                    guard: { type: 'isRunning', params: ({ event }) => ({ id: event.id }) },
                    meta: { doc: 'The call was cut off; nobody knows what it did.' },
                    actions: [
                      { type: 'doubt', params: ({ event }) => ({ id: event.id }) },
                      { type: 'dropChild', params: ({ event }) => ({ id: event.id }) },
                    ],
                  },
                ],
              },
            },
            reconciling: {
              meta: { doc: 'A call was started; somebody must say what became of it.' },
              tags: ['waiting'],
              always: { guard: 'isHeadCertain', target: 'choosing', meta: { doc: 'It is known now.' } },
            },
          },
        },
        followingUp: {
          meta: { doc: 'Every call has exactly one outcome; the next input is put together.' },
          entry: 'followUp',
          always: [
            { guard: 'needsCompaction', target: 'compacting', meta: { doc: 'It has grown too long.' } },
            { target: 'responding', meta: { doc: 'The next request goes out.' } },
          ],
        },
        compacting: {
          meta: { doc: 'The conversation is made shorter.' },
          tags: ['network'],
          invoke: {
            id: 'compact',
            src: 'compact',
            input: ({ context }) => compactInput(context),
            onDone: [
              {
                guard: { type: 'isSpentToWrapUp', params: outputOf },
                target: 'responding',
                meta: { doc: 'Making it shorter used up the rest: the model has a last word.' },
                actions: [{ type: 'takeCompacted', params: outputOf }, 'reachTokenLimit', 'wrapUp'],
              },
              {
                guard: { type: 'isSpent', params: outputOf },
                target: '#loop.limitExceeded',
                meta: { doc: 'Making it shorter used up the rest.' },
                actions: [{ type: 'takeCompacted', params: outputOf }, 'reachTokenLimit', 'takeBackTurn'],
              },
              {
                guard: { type: 'isCompacted', params: outputOf },
                target: 'responding',
                meta: { doc: 'The shorter conversation goes on.' },
                actions: { type: 'takeCompacted', params: outputOf },
              },
              {
                target: 'responding',
                meta: { doc: 'It could not be made shorter and goes on as it is.' },
                actions: { type: 'takeCompacted', params: outputOf },
              },
            ],
          },
          on: {
            'effect.inDoubt': {
              guard: { type: 'isNamed', params: ({ event }) => ({ id: event.id, name: 'compact' }) },
              target: 'compacting',
              reenter: true,
              meta: { doc: 'It was cut off and is tried again.' },
            },
          },
        },
      },
    },
    stopping: {
      meta: { doc: 'Everything that runs was told to stop; what it still answers is heard.' },
      // Spawned calls do not end with the state that started them, as invoked effects do.
      entry: 'abortCalls',
      invoke: {
        id: 'drain',
        src: 'drain',
        input: ({ context }) => ({ slots: runningSlots(context) }),
        onDone: [
          {
            guard: 'endsCancelled',
            target: 'cancelled',
            meta: { doc: 'All has stopped.' },
            actions: { type: 'settleDrained', params: outputOf },
          },
          {
            guard: 'endsLimitExceeded',
            target: 'limitExceeded',
            meta: { doc: 'All has stopped.' },
            actions: { type: 'settleDrained', params: outputOf },
          },
          {
            target: 'failed',
            meta: { doc: 'All has stopped.' },
            actions: { type: 'settleDrained', params: outputOf },
          },
        ],
        onError: {
          target: 'failed',
          meta: { doc: 'Effects settle; a rejection is a bug.' },
          actions: [
            { type: 'end', params: ENDINGS.internalError },
            { type: 'settleDrained', params: { output: [] } },
          ],
        },
      },
      on: {
        'effect.inDoubt': {
          guard: { type: 'isNamed', params: ({ event }) => ({ id: event.id, name: 'drain' }) },
          target: 'stopping',
          reenter: true,
          meta: { doc: 'Stopping was cut off and is done again.' },
        },
      },
    },
    done: { type: 'final', meta: { doc: 'The model finished.' }, tags: ['final'] },
    limitExceeded: { type: 'final', meta: { doc: 'A limit ended the run.' }, tags: ['final'] },
    failed: { type: 'final', meta: { doc: 'Something went wrong for good.' }, tags: ['final'] },
    cancelled: { type: 'final', meta: { doc: 'Somebody ended the run.' }, tags: ['final'] },
  },
})
