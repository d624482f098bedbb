/** What a key does on the page of a run. */
export type ShortcutAction =
  | 'play'
  | 'nextFrame'
  | 'previousFrame'
  | 'pageForward'
  | 'pageBack'
  | 'first'
  | 'last'
  | 'nextDecision'
  | 'previousDecision'
  | 'nextError'
  | 'previousError'
  | 'nextTurn'
  | 'previousTurn'
  | 'follow'
  | 'faster'
  | 'slower'
  | 'wholeChart'
  | 'runs'
  | 'help'

/** One line of the table of keys. */
export interface Shortcut {
  readonly action: ShortcutAction
  /** As `KeyboardEvent.key` names them. */
  readonly keys: readonly string[]
  readonly text: string
}

/** Every key, in the order in which the help shows them. */
export const SHORTCUTS: readonly Shortcut[] = [
  { action: 'play', keys: [' '], text: 'Play or pause' },
  { action: 'nextFrame', keys: ['ArrowRight'], text: 'Next frame' },
  { action: 'previousFrame', keys: ['ArrowLeft'], text: 'Previous frame' },
  { action: 'nextDecision', keys: ['d', ']'], text: 'Next decision' },
  { action: 'previousDecision', keys: ['D', '['], text: 'Previous decision' },
  { action: 'nextError', keys: ['e'], text: 'Next error' },
  { action: 'previousError', keys: ['E'], text: 'Previous error' },
  { action: 'nextTurn', keys: ['t'], text: 'Next turn' },
  { action: 'previousTurn', keys: ['T'], text: 'Previous turn' },
  { action: 'pageForward', keys: ['PageDown'], text: 'Forward by a twentieth of the run' },
  { action: 'pageBack', keys: ['PageUp'], text: 'Back by a twentieth of the run' },
  { action: 'first', keys: ['Home'], text: 'First frame' },
  { action: 'last', keys: ['End'], text: 'Last frame' },
  { action: 'follow', keys: ['f'], text: 'Follow the run' },
  { action: 'faster', keys: ['>'], text: 'Play faster' },
  { action: 'slower', keys: ['<'], text: 'Play slower' },
  { action: 'wholeChart', keys: ['c'], text: 'Whole chart, or the active state close by' },
  { action: 'runs', keys: ['g'], text: 'List of runs' },
  { action: 'help', keys: ['?'], text: 'This help' },
]

/** A key that was pressed, and where. */
export interface KeyPress {
  readonly key: string
  readonly hasModifier: boolean
  /** The focus is in something that types, or that has a use of its own for keys. */
  readonly isTaken: boolean
}

/** What a key asks for; null when it is not for the page. */
export function shortcutOf({ key, hasModifier, isTaken }: KeyPress): ShortcutAction | null {
  if (hasModifier || isTaken) return null
  return SHORTCUTS.find(({ keys }) => keys.includes(key))?.action ?? null
}
