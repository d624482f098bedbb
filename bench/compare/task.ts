import type { Continuity } from './client.ts'

/** What a client's process is told to do. */
export type Task = AnswerTask | LoopTask | FirstTask

interface AnswerTask {
  readonly kind: 'answer'
  readonly baseUrl: string
  readonly deltas: number
}

interface LoopTask {
  readonly kind: 'loop' | 'loops-at-once'
  readonly baseUrl: string
  readonly turns: number
  readonly continuity: Continuity
  readonly times: number
}

interface FirstTask {
  readonly kind: 'first'
  readonly baseUrl: string
  readonly times: number
}

/** What that took, of the client's process alone. */
export interface Taken {
  readonly cpuUs: number
  /** The most it ever had, since it started. */
  readonly peakRssKib: number
  /** On the clock of `process.hrtime`, which processes of one machine share. */
  readonly firstTextsAt: readonly bigint[]
}
