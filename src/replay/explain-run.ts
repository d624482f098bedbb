import { explain, type Explanation } from '../chart/explain.ts'
import { inDoubt as inDoubtEvent } from '../chart/loop-events.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { StartedEffect } from '../chart/pure-fold.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { isDecision } from '../loop/decisions.ts'
import { restoreRun, type KeyedEffect, type RestoredRun } from '../loop/restore-run.ts'

/** Why a stored run is where it is, and what it waits for. */
export interface RunExplanation extends Explanation {
  readonly runId: string
  /** `waiting`: for time or for somebody, as nothing is at work. `cut_off`: something was at work when the log ends. */
  readonly status: 'ended' | 'waiting' | 'cut_off'
  readonly turn: number
  /** The latest frame that moved the run. */
  readonly decidedAt: number
  /** When it is worth going on, in milliseconds of the wall clock; null: any time. */
  readonly retryAt: number | null
  /** When its wall time is up; null: never. */
  readonly deadlineAt: number | null
  /** Calls of which nobody knows how they ended. */
  readonly inDoubt: readonly { readonly callId: string; readonly name: string }[]
  /** What would become of each thing that was at work if the run were resumed now. */
  readonly onResume: readonly string[]
  /** How often it was resumed. */
  readonly epoch: number
  readonly frames: number
}

/** Explains a run from its log alone. Throws `log_corrupt` when it cannot be folded. */
export function explainRun(log: Iterable<Frame>): RunExplanation {
  const frames = [...log]
  const restored = restoreRun(frames)
  const { snapshot, shown, pending, started, epoch } = restored
  const atWork = [...pending.values()]
    .map((keyed) => keyed.started)
    .filter(({ effect }) => effect !== 'timer')
  const isActive = snapshot.status === 'active'
  return {
    ...explain(shown),
    runId: started.run_id,
    status: !isActive ? 'ended' : atWork.length === 0 ? 'waiting' : 'cut_off',
    turn: snapshot.context.turn,
    decidedAt: frames.findLast(isDecision)?.seq ?? 0,
    retryAt: isActive ? timerAt(pending.get('backoff')) : null,
    deadlineAt: isActive ? timerAt(pending.get('deadline')) : null,
    inDoubt: isActive ? inDoubt(snapshot) : [],
    onResume: isActive ? atWork.map((effect) => resumption(effect, restored)) : [],
    epoch,
    frames: frames.length,
  }
}

function timerAt(keyed: KeyedEffect | undefined): number | null {
  return keyed?.started.effect === 'timer' ? keyed.started.input.at : null
}

/** Also calls that were running when the log ends: whether they still do, nobody can say. */
function inDoubt({ context }: LoopSnapshot): RunExplanation['inDoubt'] {
  return context.calls
    .filter(({ status }) => status === 'inDoubt' || status === 'running')
    .map(({ callId, name }) => ({ callId, name }))
}

/** The chart itself is asked what it would do about an effect that was cut off. */
function resumption(effect: StartedEffect, { snapshot }: RestoredRun): string {
  const { started } = loopFold().next(snapshot, inDoubtEvent(effect.id))
  switch (effect.effect) {
    case 'respond':
      return `response ${effect.input.turn} is asked for again, as attempt ${effect.input.attempt + 2}`
    case 'runTool': {
      const { callId, name } = effect.input.call
      return started.some(({ id }) => id === effect.id)
        ? `call ${callId} of ${name} runs again, which is safe`
        : `somebody must say what became of call ${callId} of ${name}`
    }
    case 'compact':
      return 'the conversation is made shorter once more'
    case 'drain':
      return 'what was at work is given up'
    case 'timer':
      return 'the timer is set again'
  }
}
