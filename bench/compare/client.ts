/** How a loop tells the model what was said before: all of it again, or the id of the last response. */
export type Continuity = 'stateless' | 'previous_response_id'

/** What a client saw of one message. */
interface SeenAnswer {
  readonly deltas: number
  readonly characters: number
}

/** What a client saw of a tool loop. What its tool was told is counted by the tool. */
export interface SeenLoop {
  readonly turns: number
  readonly text: string
}

/** One library, used as its documentation says to, over real HTTP. Every method is one whole exchange. */
export interface Client {
  /** Reads one answer to its end, delta by delta. */
  readonly answer: (baseUrl: string) => Promise<SeenAnswer>
  /** Runs the tool loop to its last word. May be called again before it is through. */
  readonly loop: (baseUrl: string, continuity: Continuity) => Promise<SeenLoop>
  /** Reads one short answer; gives `process.hrtime.bigint()` of when its first text was in the reader's hands. */
  readonly first: (baseUrl: string) => Promise<bigint>
  /** Called once before the process ends. */
  readonly close?: () => void
}
