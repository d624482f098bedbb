import { Buffer } from 'node:buffer'

import type { StartedEffect } from '../chart/pure-fold.ts'
import { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame, ProviderEventFrame } from '../frames/generated/frame.ts'
import type { Agent } from '../loop/agent.ts'
import { recordResponse } from '../loop/record-response.ts'
import { tolerant } from '../protocol/tolerant.ts'
import type { AssembledResponse } from '../stream/assemble-response.ts'
import type { ResponseReader } from '../stream/response-reader.ts'
import { dataBytes, eventBytes } from './event-bytes.ts'

/** What a request was made from. */
export type RespondInput = Extract<StartedEffect, { readonly effect: 'respond' }>['input']

const BLANK_LINE = Buffer.from('\n')

/** One response, read again from the bytes that its log has of it, by the decoder that read it first. */
export class ReplayedResponse {
  /** The log has said that the first byte came. */
  hasBegun = false
  hasEvents = false
  readonly #shape: 'stream' | 'body'
  readonly #reader: ResponseReader
  #frames: Frame[] = []

  constructor(runId: string, agent: Agent, input: RespondInput, contentType: string | null) {
    const { turn, attempt, model } = input
    const isBody =
      contentType === null ? agent.models[model]?.isStreamed === false : /\bjson\b/iu.test(contentType)
    this.#shape = isBody ? 'body' : 'stream'
    this.#reader = recordResponse({
      stamp: new FrameStamp(runId, () => 0),
      turn,
      attempt,
      profile: agent.profile ?? tolerant,
      shape: this.#shape,
      limits: agent.streamLimits,
      onFrame: (frame) => {
        // The log has its own, at the time of the first byte and not of the first event.
        if (frame.type !== 'response_first_byte') this.#frames.push(frame)
      },
    })
  }

  /** The frames of one event; `isCutOff` when the end of the body, and not a blank line, ended it. */
  event(frame: ProviderEventFrame, isCutOff: boolean): readonly Frame[] {
    this.hasEvents = true
    if (this.#shape === 'body') this.#reader.feed(dataBytes(frame))
    else this.#reader.feed(isCutOff ? eventBytes(frame) : Buffer.concat([eventBytes(frame), BLANK_LINE]))
    if (isCutOff || this.#shape === 'body') this.#reader.end()
    return this.#take()
  }

  end(): AssembledResponse {
    return this.#reader.end()
  }

  #take(): readonly Frame[] {
    const frames = this.#frames
    this.#frames = []
    return frames
  }
}
