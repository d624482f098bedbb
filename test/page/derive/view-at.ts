import { attemptStateAt, partsAt } from '../../../src/inspect/page/derive/attempts.ts'
import type { Block } from '../../../src/inspect/page/derive/blocks.ts'
import { callAt, callsInDoubt, openQuestions } from '../../../src/inspect/page/derive/call-at.ts'
import type { CallRecord } from '../../../src/inspect/page/derive/call-records.ts'
import type { RunIndex } from '../../../src/inspect/page/derive/run-index.ts'
import { countSeen, lastSeen } from '../../../src/inspect/page/derive/seen-records.ts'
import { usageAt } from '../../../src/inspect/page/derive/usage-series.ts'

/** Everything that the panels can show at a frame, as plain data. */
export function viewAt(index: RunIndex, at: number): unknown {
  const { blocks, calls, events, requests, usage, turns } = index
  return {
    turn: lastSeen(turns, at),
    blocks: blocks.all.slice(0, countSeen(blocks.all, at)).map((block) => blockView(block, at)),
    questions: openQuestions(calls.all, at),
    doubts: callsInDoubt(calls.all, at),
    events: events.seqs.flatMap((seq, row) => (seq <= at ? [[seq, events.marks[row]]] : [])),
    requests: requests.all.slice(0, countSeen(requests.all, at)),
    usage: usageAt(usage, at),
  }
}

function blockView(block: Block, at: number): unknown {
  switch (block.kind) {
    case 'attempt': {
      const { seq, turn, attempt, kind, model } = block.attempt
      const parts = partsAt(block.attempt, at).map(({ kind, text, length }) => ({
        kind,
        text: text.slice(0, length),
      }))
      return { seq, turn, attempt, kind, model, state: attemptStateAt(block.attempt, at), parts }
    }
    case 'call':
      return callView(block.call, at)
    case 'child': {
      const { runId, end } = block.child
      return { seq: block.seq, runId, end: end !== null && end.seq <= at ? end : null }
    }
    case 'input':
    case 'command':
    case 'notice':
    case 'end':
    case 'entry':
      return block
  }
}

function callView(call: CallRecord, at: number): unknown {
  const { call: _, stdoutLength, stderrLength, ...view } = callAt(call, at)
  const { seq, turn, callId, name, slot, disposition, approval, stdout, stderr } = call
  return {
    ...view,
    seq,
    turn,
    callId,
    name,
    slot,
    disposition,
    approval,
    arguments: call.arguments,
    stdout: stdout.slice(0, stdoutLength),
    stderr: stderr.slice(0, stderrLength),
  }
}
