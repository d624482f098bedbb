import { useState } from 'preact/hooks'

import type { JsonObject } from '../../../protocol/json.ts'
import { ApiError, type Api, type CommandName } from '../api.ts'
import { isOvertaken } from '../derive/is-overtaken.ts'
import type { RunModel } from '../run-model.ts'

/** What came of the latest command. */
interface SentResult {
  readonly tone: 'good' | 'bad'
  readonly text: string
  /** Where the run was by the answer; null when that was not said. */
  readonly state: string | null
  /** The last frame that was known when it was sent. */
  readonly since: number
}

/** Sends commands, one at a time, and keeps what came of the latest. */
export interface Sender {
  readonly isSending: boolean
  /** Null as well once the run has gone on from where the answer said that it was. */
  readonly result: SentResult | null
  /** Resolves to whether the run took it. Never rejects: what was refused is in `result`. */
  readonly send: (name: CommandName, body: JsonObject) => Promise<boolean>
}

/** A sender for one run. */
export function useSender({ runId, frames, history }: RunModel, api: Api): Sender {
  const [isSending, setSending] = useState(false)
  const [result, setResult] = useState<SentResult | null>(null)
  const send = async (name: CommandName, body: JsonObject): Promise<boolean> => {
    const since = frames.length - 1
    setSending(true)
    setResult(null)
    try {
      const { answer, reason, state } = await api.command(runId, name, body)
      const isTaken = answer !== 'refused'
      const why = reason === null ? '' : `: ${reason}`
      const text = `${name}: ${answer}${why}. The run is in ${state}.`
      setResult({ tone: isTaken ? 'good' : 'bad', text, state, since })
      return isTaken
    } catch (error) {
      const state = error instanceof ApiError ? error.state : null
      setResult({ tone: 'bad', text: refusalText(name, error), state, since })
      return false
    } finally {
      setSending(false)
    }
  }
  const isOld = result?.state != null && isOvertaken(history.steps, result.since, result.state)
  return { isSending, result: isOld ? null : result, send }
}

function refusalText(name: CommandName, error: unknown): string {
  if (!(error instanceof ApiError))
    return `${name} could not be sent: ${error instanceof Error ? error.message : ''}`
  const where = error.state === null ? '' : ` The run is in ${error.state}.`
  const status = error.status === 0 ? '' : ` (${error.status})`
  return `${name} was refused${status}, ${error.code}: ${error.message}.${where}`
}
