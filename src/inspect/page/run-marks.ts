import type { Frame } from '../../frames/generated/frame.ts'
import { frameKind, isDecision, isFailure, type FrameKind } from './frame-kind.ts'

/** The places of a run that one jumps to, each as ascending seqs, and how many frames of each kind it has; grows with it. */
export class RunMarks {
  readonly decisions: number[] = []
  readonly failures: number[] = []
  /** The first frame of each turn. */
  readonly turns: number[] = []
  /** Frames of each kind. */
  readonly counts = new Map<FrameKind, number>()
  #turn = 0

  add(frames: readonly Frame[]): void {
    for (const frame of frames) {
      const kind = frameKind(frame)
      this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
      if (isDecision(frame)) this.decisions.push(frame.seq)
      if (isFailure(frame)) this.failures.push(frame.seq)
      if (this.#beginsTurn(frame)) this.turns.push(frame.seq)
    }
  }

  #beginsTurn(frame: Frame): boolean {
    if (frame.type === 'conversation_run_started') return true
    if (frame.type !== 'state_entered' || frame.turn <= this.#turn) return false
    this.#turn = frame.turn
    return true
  }
}
