import { lastBefore, nextAfter } from './binary-search.ts'
import type { RunMarks } from './run-marks.ts'
import { seqAfterKey } from './scrubber-scale.ts'
import type { ShortcutAction } from './shortcut.ts'

/** Where an action moves the cursor; null when it does not, or when there is nothing to go to. */
export function moveTarget(action: ShortcutAction, at: number, last: number, marks: RunMarks): number | null {
  switch (action) {
    case 'nextFrame':
      return seqAfterKey('ArrowRight', at, last)
    case 'previousFrame':
      return seqAfterKey('ArrowLeft', at, last)
    case 'pageForward':
      return seqAfterKey('PageUp', at, last)
    case 'pageBack':
      return seqAfterKey('PageDown', at, last)
    case 'first':
      return 0
    case 'last':
      return Math.max(0, last)
    case 'nextDecision':
      return nextAfter(marks.decisions, at)
    case 'previousDecision':
      return lastBefore(marks.decisions, at)
    case 'nextError':
      return nextAfter(marks.failures, at)
    case 'previousError':
      return lastBefore(marks.failures, at)
    case 'nextTurn':
      return nextAfter(marks.turns, at)
    case 'previousTurn':
      return lastBefore(marks.turns, at)
    case 'play':
    case 'follow':
    case 'faster':
    case 'slower':
    case 'wholeChart':
    case 'runs':
    case 'help':
      return null
  }
}
