import type { Frame } from '../frames/generated/frame.ts'
import type { Agent } from '../loop/agent.ts'
import { run, type ResumeInput } from '../loop/run.ts'
import type { RunInput } from '../loop/run-input.ts'
import { tellChanges } from './conclude-kept.ts'
import { JsonView } from './json-view.ts'
import type { KeptRun } from './kept-run.ts'
import { listenToSignals } from './listen-to-signals.ts'
import type { RunView } from './run-view.ts'
import { oneLine } from './safe-text.ts'
import { sayTo } from './say-to.ts'
import { showRun, type Showing } from './show-run.ts'

export interface SessionOptions extends Showing {
  readonly agent: Agent
  readonly input: RunInput | ResumeInput
  readonly view: RunView
  /** What keeps the run; without it, it is gone with this process. */
  readonly kept?: KeptRun | null
  /** What was said beforehand about calls that need approval. */
  readonly decided?: ReadonlyMap<string, boolean>
}

/** Runs an agent and shows it: to the view, to the log, and to the shell by the exit code that it resolves with. */
export async function runSession(options: SessionOptions): Promise<number> {
  const { agent, input, view, redactor, kept = null, decided = new Map() } = options
  const past = pastOf(input, kept)
  const live = run(agent, input, kept === null ? {} : { store: kept.store })
  const say = sayTo(process.stderr, redactor)
  tellChanges(past, agent, say)
  if (kept !== null && !(view instanceof JsonView)) process.stderr.write(`run ${oneLine(live.id)}\n`)
  const release = listenToSignals({
    cancel: () => void live.cancel('interrupted'),
    leave: kept === null ? null : () => kept.leave(live, 'signal'),
    onHurry: () => {
      if (kept !== null) say(`the run was left as it was; ${kept.resumeHint(live.id)}`)
    },
  })
  try {
    return await showRun(live, { ...options, kept, decided, past, say })
  } finally {
    release()
  }
}

/** What the log of a run that is taken up has already. */
function pastOf(input: RunInput | ResumeInput, kept: KeptRun | null): readonly Frame[] {
  const isResumed = kept !== null && typeof input === 'object' && 'resume' in input
  return isResumed ? [...kept.store.read(input.resume)] : []
}
