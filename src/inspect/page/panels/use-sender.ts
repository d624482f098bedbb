import { useState } from 'preact/hooks'

import type { JsonObject } from '../../../protocol/json.ts'
import { ApiError, type Api, type CommandName } from '../api.ts'

/** What came of the latest command. */
interface SentResult {
  readonly tone: 'good' | 'bad'
  readonly text: string
}

/** Sends commands, one at a time, and keeps what came of the latest. */
export interface Sender {
  readonly isSending: boolean
  readonly result: SentResult | null
  /** Resolves to whether the run took it. Never rejects: what was refused is in `result`. */
  readonly send: (name: CommandName, body: JsonObject) => Promise<boolean>
}

/** A sender for one run. */
export function useSender(runId: string, api: Api): Sender {
  const [isSending, setSending] = useState(false)
  const [result, setResult] = useState<SentResult | null>(null)
  const send = async (name: CommandName, body: JsonObject): Promise<boolean> => {
    setSending(true)
    setResult(null)
    try {
      const { answer, reason, state } = await api.command(runId, name, body)
      const isTaken = answer !== 'refused'
      const why = reason === null ? '' : `: ${reason}`
      setResult({ tone: isTaken ? 'good' : 'bad', text: `${name}: ${answer}${why}. The run is in ${state}.` })
      return isTaken
    } catch (error) {
      setResult({ tone: 'bad', text: refusalText(name, error) })
      return false
    } finally {
      setSending(false)
    }
  }
  return { isSending, result, send }
}

function refusalText(name: CommandName, error: unknown): string {
  if (!(error instanceof ApiError))
    return `${name} could not be sent: ${error instanceof Error ? error.message : ''}`
  const where = error.state === null ? '' : ` The run is in ${error.state}.`
  const status = error.status === 0 ? '' : ` (${error.status})`
  return `${name} was refused${status}, ${error.code}: ${error.message}.${where}`
}
