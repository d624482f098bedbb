import { LoopchartError } from '../errors.ts'

/** How long a provider may take, each in milliseconds. */
export interface Timeouts {
  /** Until the connection stands. Node gives up after 10 s, however much this allows. */
  readonly connectMs: number
  /** From the start until the head of the response is in; connecting is part of it. */
  readonly headersMs: number
  /** Between two pieces of the body. */
  readonly idleMs: number
  /** Between two events of a stream: comments keep a connection open for ever. */
  readonly progressMs: number
  /** From the start to the end. */
  readonly totalMs: number
}

/** How much a provider may say where nobody else bounds it. */
export interface Caps {
  /** The body of an error; what is longer is cut off. */
  readonly errorBytesMax: number
  /** The list of models. */
  readonly modelsBytesMax: number
}

const SECOND_MS = 1000

export const STREAM_TIMEOUTS: Timeouts = {
  connectMs: 10 * SECOND_MS,
  headersMs: 60 * SECOND_MS,
  idleMs: 120 * SECOND_MS,
  progressMs: 300 * SECOND_MS,
  totalMs: 1800 * SECOND_MS,
}

/** A response that comes whole has its head when the model is done. A fetch of Node's waits 300 s for one. */
export const WHOLE_TIMEOUTS: Timeouts = { ...STREAM_TIMEOUTS, headersMs: 290 * SECOND_MS }

/** A list is short. */
export const LIST_TIMEOUTS: Timeouts = {
  connectMs: 10 * SECOND_MS,
  headersMs: 30 * SECOND_MS,
  idleMs: 30 * SECOND_MS,
  progressMs: 30 * SECOND_MS,
  totalMs: 60 * SECOND_MS,
}

export const CAPS: Caps = { errorBytesMax: 64 * 1024, modelsBytesMax: 16 * 1024 * 1024 }

/** Defaults with what was given in their place. Throws `provider_invalid` for what is unknown or no length of time. */
export function withGiven<Limits extends object>(
  field: 'timeouts' | 'caps',
  defaults: Limits,
  given: Partial<Limits> = {},
): Limits {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaults, name)) {
      throw new LoopchartError('provider_invalid', `${field}.${name} is not known`)
    }
    if (value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value > 0))
      continue
    throw new LoopchartError('provider_invalid', `${field}.${name} must be a whole number above 0`)
  }
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(isSet)) }
}

// One that is undefined must not hide its default.
function isSet([, value]: [string, unknown]): boolean {
  return value !== undefined
}
