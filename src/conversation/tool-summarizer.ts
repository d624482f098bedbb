import { hash } from 'node:crypto'

import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { SUMMARY_INSTRUCTIONS } from '../history/compaction/summary-question.ts'
import type { Summarize, SummaryOutcome } from '../history/tool-history/summarize-with-model.ts'
import { askModel, type AskedAnswer } from './ask-model.ts'
import type { Prices } from './conversation-api.ts'
import type { ConversationParts } from './conversation-parts.ts'
import { used } from './used.ts'

interface AskedSummary {
  /** Names what it is about. */
  readonly key: string
  readonly answer: AskedAnswer
}

/** Asks the model about calls that have become old, unless it was asked about the very same before. */
export class ToolSummarizer {
  readonly asked: AskedSummary[] = []
  readonly #parts: ConversationParts

  constructor(parts: ConversationParts) {
    this.#parts = parts
  }

  get summarize(): Summarize {
    return async (entries, signal) => {
      const { log, settings } = this.#parts
      const text = entries
        .map(({ name, args, result, isError }) =>
          JSON.stringify({ tool: name, args, result, failed: isError }),
        )
        .join('\n')
      const key = hash('sha256', text, 'base64url')
      if (log.memory.toolSummary?.key === key) return log.memory.toolSummary.text
      const answer = await askModel(this.#parts, {
        instructions: SUMMARY_INSTRUCTIONS,
        question: `These tools were called earlier in the conversation, the oldest first:\n${text}`,
        ...(settings.summarizationModel !== null && { model: settings.summarizationModel }),
        signal,
      })
      this.asked.push({ key, answer })
      if (answer.text === null) throw new Error(answer.detail ?? 'there was no answer')
      return answer.text
    }
  }
}

/** The frame that says who summarised old calls, and why. */
export function summarizedFrame(
  stamp: FrameStamp,
  prices: Prices | null,
  { key, answer }: AskedSummary,
  summary: SummaryOutcome | null,
): Frame {
  const isByModel = summary?.by === 'model'
  return makeFrame(stamp, 'history_summarized', {
    cause: summary?.reason ?? 'model_failed',
    figures: {
      by: isByModel ? 'model' : 'rules',
      detail: summary?.detail ?? null,
      call_count: summary?.callCount ?? 0,
      text: summary?.text ?? null,
      key: isByModel ? key : null,
      child_run_id: answer.runId,
      ...(answer.usage !== null && used(answer.usage, prices)),
    },
  })
}
