import type { ConversationTurn, RefusalReason, TurnResult } from '../conversation/conversation-api.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { Run } from '../loop/run.ts'
import { concludeBroken } from './conclude-kept.ts'
import { ExitCode, exitCodeOf } from './exit-code.ts'
import { KeptRun } from './kept-run.ts'
import { listenToSignals } from './listen-to-signals.ts'
import type { LiveViewOptions } from './live-view.ts'
import { showRun } from './show-run.ts'
import type { EquippedAgent } from './with-agent.ts'

export interface ShowTurnOptions {
  readonly equipped: EquippedAgent
  readonly store: RunStore
  readonly resumeHint: (runId: string) => string
  /** How to come back to the conversation. */
  readonly chatHint: string
  /** Whether what the conversation may use up bounds the tokens of a run. */
  readonly isBudget: boolean
  readonly detail: LiveViewOptions['detail']
  /** What the log of a run had before it was taken up. */
  readonly past?: readonly Frame[]
  /** Sees each run when it begins. */
  readonly onRun?: (live: Run) => void
}

/** How a message ended. */
export interface ShownTurn {
  /** For the shell. */
  readonly code: number
  /** The run that was let go of; null: there is none. */
  readonly openRun: string | null
  /** It was not taken, and the next one would not be either. */
  readonly isRefused: boolean
}

/** Shows what comes of a message until it is over. */
export async function showTurn(turn: ConversationTurn, options: ShowTurnOptions): Promise<ShownTurn> {
  const { equipped, chatHint } = options
  let leaveRun: (() => void) | null = null
  const cancel = (): void => void turn.cancel('interrupted')
  const release = listenToSignals({ cancel, leave: () => (leaveRun ?? cancel)() })
  let last: ShownRun | null = null
  try {
    for await (const live of turn.runs()) {
      const kept = new KeptRun({ store: options.store, resumeHint: options.resumeHint })
      leaveRun = () => kept.leave(live, 'signal')
      last = await showOne(live, kept, options)
    }
    // A run that another one follows is not how the message ended: nothing is said of it.
    for (const remark of last?.remarks ?? []) equipped.say(remark)
    return endOf(await turn.result, last, equipped)
  } catch (error) {
    return { code: concludeBroken(error, chatHint, equipped.say), openRun: null, isRefused: true }
  } finally {
    release()
  }
}

interface ShownRun {
  readonly runId: string
  readonly code: number
  readonly remarks: readonly string[]
}

async function showOne(
  live: Run,
  kept: KeptRun,
  { equipped, detail, isBudget, past = [], onRun }: ShowTurnOptions,
): Promise<ShownRun> {
  const remarks: string[] = []
  onRun?.(live)
  const code = await showRun(live, {
    ...equipped,
    view: equipped.makeView(detail),
    kept,
    past: live.id === past[0]?.run_id ? past : [],
    decided: new Map(),
    ...(isBudget ? { tokensFlag: '--budget' } : {}),
    say: (text) => void remarks.push(text),
  })
  return { runId: live.id, code, remarks }
}

function endOf(result: TurnResult, last: ShownRun | null, { say }: EquippedAgent): ShownTurn {
  if (result.status === 'refused') {
    const how = result.reason === 'budget_used_up' ? '; raise it with --budget' : ''
    say(`${result.message} [${result.reason}]${how}`)
    return { code: REFUSED[result.reason], openRun: null, isRefused: true }
  }
  const openRun = result.status === 'suspended' ? (last?.runId ?? null) : null
  return { code: last?.code ?? exitCodeOf(result), openRun, isRefused: false }
}

const REFUSED: Readonly<Record<RefusalReason, number>> = {
  open_run: ExitCode.suspended,
  nothing_open: ExitCode.failed,
  budget_used_up: ExitCode.limitExceeded,
  queue_full: ExitCode.failed,
  closed: ExitCode.failed,
  cancelled: ExitCode.cancelled,
  context_compile_failed: ExitCode.failed,
  store_failed: ExitCode.suspended,
}
