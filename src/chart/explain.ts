import { loopMachine } from '../../machines/loop.machine.ts'
import type { LoopCall, LoopCommand, LoopContext } from '../../machines/loop.types.ts'
import { timeText } from '../clock.ts'
import { can } from './can.ts'
import { docOf, listStates } from './list-transitions.ts'
import type { LoopSnapshot } from './loop-snapshot.ts'

/** Where a run is and what may happen to it, in words for people. */
export interface Explanation {
  /** Dotted path. */
  readonly state: string
  /** What the chart says about this state. */
  readonly doc: string
  /** What must happen for the run to get on; empty once it has ended. */
  readonly waitsFor: readonly string[]
  /** Commands that would be taken now. */
  readonly can: readonly string[]
  /** What brought it here. */
  readonly why: string
}

/** Explains a run at one moment. */
export function explain(snapshot: LoopSnapshot): Explanation {
  const { state, context } = snapshot
  const node = listStates(loopMachine).find(({ path }) => path.join('.') === state)
  return {
    state,
    doc: (node === undefined ? null : docOf(node)) ?? '',
    waitsFor: waitsFor(state, context),
    can: openCommands(snapshot),
    why: why(state, context),
  }
}

function waitsFor(state: string, context: LoopContext): readonly string[] {
  switch (state) {
    case 'working.responding.requesting':
      return [`the first event of ${requestName(context)}`]
    case 'working.responding.streaming':
      return [`the end of ${requestName(context)}`]
    case 'working.backingOff':
      return [`${timeText(context.error?.retryAt ?? Number.NaN)}, when ${requestName(context)} is sent`]
    case 'working.executing.running':
      return callsThat(context, 'running').map((call) => `${callName(call)} to end`)
    case 'working.executing.awaitingApproval':
      return callsThat(context, 'undecided').map((call) => `a yes or a no for ${callName(call)}`)
    case 'working.executing.reconciling':
      return callsThat(context, 'inDoubt').map((call) => `somebody to say what became of ${callName(call)}`)
    case 'working.compacting':
      return ['the shorter conversation']
    case 'stopping':
      return ['what was at work to stop']
    default:
      return []
  }
}

function why(state: string, context: LoopContext): string {
  const { error, ending } = context
  if (state === 'stopping') return ending?.message ?? ''
  if (!state.startsWith('working.')) return ending?.message ?? 'the model had nothing left to do'
  if (state === 'working.backingOff') return `the request failed: ${error?.message ?? 'for no known reason'}`
  if (state.startsWith('working.executing')) return executingWhy(state, context)
  if (state === 'working.compacting') return 'the conversation has grown too long'
  if (context.kind === 'wrap_up')
    return `${ending?.message ?? 'a limit was reached'}; the model has a last word`
  if (context.attempt > 0)
    return `the request was sent before and gave no response: attempt ${context.attempt + 1}`
  return context.turn === 1 ? 'the run has just begun' : 'the answers to the last response are being sent'
}

function executingWhy(state: string, { calls }: LoopContext): string {
  if (state.endsWith('reconciling')) return 'a call was cut off while it ran'
  const settled = calls.filter(({ status }) => status === 'settled').length
  const open = calls.length - settled
  return `the response has ${calls.length} ${calls.length === 1 ? 'call' : 'calls'}; ${open} still without an outcome`
}

function requestName({ kind, turn, attempt }: LoopContext): string {
  const name = kind === 'wrap_up' ? 'the last response' : `response ${turn}`
  return attempt === 0 ? name : `${name}, attempt ${attempt + 1}`
}

function callsThat({ calls }: LoopContext, status: LoopCall['status']): readonly LoopCall[] {
  return calls.filter((call) => call.status === status)
}

function callName({ callId, name }: LoopCall): string {
  return `call ${callId} of ${name}`
}

function openCommands(snapshot: LoopSnapshot): readonly string[] {
  const perCall = snapshot.context.calls.flatMap(({ callId }): readonly LoopCommand[] => [
    { type: 'call.approve', callId },
    { type: 'call.deny', callId, reason: '' },
    { type: 'call.reconcile', callId, as: 'rerun' },
  ])
  const commands: readonly LoopCommand[] = [
    { type: 'run.cancel' },
    { type: 'run.steer', text: '' },
    ...perCall,
  ]
  const open = commands.filter((command) => can(snapshot, command).answer !== 'refused')
  return [
    ...new Set(
      open.map((command) => ('callId' in command ? `${command.type} ${command.callId}` : command.type)),
    ),
  ]
}
