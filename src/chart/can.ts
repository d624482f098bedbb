import type { CommandAnswer, LoopCall, LoopCommand, LoopContext } from '../../machines/loop.types.ts'
import { loopFold } from './loop-fold.ts'
import type { LoopSnapshot } from './loop-snapshot.ts'

/**
 * What a run would answer to a command at this moment. The verdict is the chart's own; this only puts it into words.
 */
export function can(snapshot: LoopSnapshot, command: LoopCommand): CommandAnswer {
  if (!loopFold().takes(snapshot, command)) return { answer: 'refused', reason: refusal(snapshot, command) }
  return { answer: command.type === 'run.steer' ? 'queued' : 'accepted', reason: null }
}

function refusal(snapshot: LoopSnapshot, command: LoopCommand): string {
  const { context } = snapshot
  if (snapshot.status !== 'active') return `the run has ended: ${snapshot.state}`
  if (snapshot.state === 'stopping') return `the run is stopping: ${context.ending?.message ?? ''}`
  switch (command.type) {
    case 'run.cancel':
      return 'the run cannot be cancelled now'
    case 'run.steer':
      return 'the model is having its last word, which nothing can follow'
    case 'call.approve':
    case 'call.deny':
      return callRefusal(context, command.callId, (call) => notAnswered(call, command))
    case 'call.reconcile':
      return callRefusal(context, command.callId, notInDoubt)
  }
}

function callRefusal(context: LoopContext, callId: string, why: (call: LoopCall) => string): string {
  // A call that repeats an id is settled from the start; the one that is still open is meant.
  const call =
    context.calls.find((call) => call.callId === callId && call.status !== 'settled') ??
    context.calls.find((call) => call.callId === callId)
  if (call !== undefined) return `call ${callId} ${why(call)}`
  const isOld = context.items.some((item) => item.type === 'function_call' && item['call_id'] === callId)
  return isOld ? `call ${callId} is not open any more` : `there is no call ${callId}`
}

type CallQuestion = Extract<LoopCommand, { type: 'call.approve' | 'call.deny' }>

function notAnswered({ status, answer, facts }: LoopCall, { argumentsHash }: CallQuestion): string {
  switch (status) {
    case 'undecided':
      if (argumentsHash !== undefined && argumentsHash !== facts.argumentsHash) {
        return 'has other arguments than the answer is about'
      }
      return facts.approval?.isEachTime === true
        ? 'is asked about each time: the answer cannot hold for the whole run'
        : 'cannot be decided now'
    case 'runnable':
      return facts.approval !== null ? 'was approved already' : 'needs no approval'
    case 'running':
      return 'is running already'
    case 'inDoubt':
      return 'has run already and its outcome is unknown: it can only be reconciled'
    case 'settled':
      return `has its outcome already: ${answer?.outcome ?? 'unknown'}`
  }
}

function notInDoubt({ status, answer }: LoopCall): string {
  return status === 'settled' ? `has its outcome already: ${answer?.outcome ?? 'unknown'}` : 'is not in doubt'
}
