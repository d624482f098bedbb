/**
 * Who may import whom: docs/architecture.md shows this table to people. Each room lists the rooms it may
 * import besides itself and the open ones. A folder under src/ that is not here is not a room.
 */
export const IMPORT_TABLE: Readonly<Record<string, ImportRule>> = {
  machines: { rooms: [], typesOf: ['protocol'], packages: ['xstate'], builtins: false },
  errors: { rooms: [], closed: true },
  clock: { rooms: [], closed: true },
  'state-folder': { rooms: [], closed: true },
  protocol: { rooms: ['errors'], closed: true },
  frames: { rooms: [] },
  stream: { rooms: [] },
  tools: { rooms: [] },
  history: { rooms: ['frames'] },
  provider: { rooms: ['stream'] },
  chart: { rooms: ['machines'] },
  journal: { rooms: ['frames', 'machines'] },
  loop: { rooms: ['machines', 'chart', 'journal', 'frames', 'stream'] },
  replay: { rooms: ['loop', 'journal', 'frames', 'stream', 'chart'] },
  conversation: { rooms: ['loop', 'history', 'journal', 'frames', 'machines'] },
  inspect: { rooms: ['machines', 'loop', 'chart', 'journal', 'frames', 'replay'] },
  // Bundled for browsers: what it imports of other rooms must run there, which the build of the page shows.
  'inspect/page': {
    rooms: ['inspect', 'machines', 'loop', 'chart', 'frames', 'replay'],
    packages: ['preact', 'eventsource-parser'],
    bundled: true,
    builtins: false,
  },
  testing: { rooms: ['loop', 'chart', 'journal', 'frames', 'replay', 'provider'] },
  server: { rooms: ['inspect', 'conversation', 'replay', 'loop', 'journal', 'frames', 'chart'] },
  cli: { rooms: 'any', computed: true },
  // Puts an agent together from the rooms that may not know each other.
  agent: { rooms: 'any' },
  'agent-tool': { rooms: 'any' },
  'agent-compaction': { rooms: 'any' },
  // Gives a run to whoever inspects it.
  run: { rooms: 'any' },
  // Gives a replay the words that tools have for calls that did not run.
  'replay-run': { rooms: 'any' },
  index: { rooms: 'any' },
  machine: { rooms: 'any' },
}

/** Rooms that every room may import, unless its own rule is closed or lists `typesOf`. */
export const OPEN_ROOMS: readonly string[] = ['errors', 'clock', 'state-folder', 'protocol']

/** Rooms that nothing outside them imports, not even a room that may import any. */
export const PRIVATE_ROOMS: readonly string[] = ['cli']

export interface ImportRule {
  readonly rooms: readonly string[] | 'any'
  /** The room gets no open room beyond those in `rooms`. */
  readonly closed?: boolean
  /** Instead of the open rooms: rooms of which only types may be imported. */
  readonly typesOf?: readonly string[]
  /** The only packages allowed; otherwise every one in `dependencies` is. */
  readonly packages?: readonly string[]
  /** Its packages are put into what is built, so that they need not be in `dependencies`. */
  readonly bundled?: boolean
  /** False where the code must also run without Node. */
  readonly builtins?: boolean
  /** Whether `import(expression)` is allowed, as for a file that the user names. */
  readonly computed?: boolean
}
