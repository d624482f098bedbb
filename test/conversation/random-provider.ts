import { onTestFinished } from 'vitest'

import type { JsonObject } from '../../src/protocol/json.ts'
import type { CreateResponseBody } from '../../src/protocol/requests.ts'
import type { ScriptItem, ScriptTurn } from '../../src/provider/scripted/script.ts'
import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { Random } from '../simulation/random.ts'

/** What the model was asked and said, once the provider had nothing against the question. */
interface Told {
  readonly request: CreateResponseBody
  readonly output: readonly ScriptItem[]
}

export interface RandomProvider {
  readonly url: string
  /** Fits `openResponses`: looks at what the provider refuses. */
  readonly fetch: typeof globalThis.fetch
  /** What it refused and the script did not ask it to refuse. */
  readonly rejections: readonly string[]
  /** How often it said that it does not know a response any more. */
  readonly lost: number
  /** How many responses it has begun to give. */
  readonly told: number
  /** What the model reads with the first request from a number on that is not about a summary; null: there is none. */
  readFrom(number: number): ReadContext | null
  /** From now on nothing goes wrong, and nothing is called. */
  calm(): void
  /** Drops every stored response. */
  forget(): void
}

/** All that a model reads for one response. */
export interface ReadContext {
  readonly text: string
  /** The request goes on from a response. */
  readonly isContinued: boolean
  /** One of the requests before it, which it goes on from, has a summary in it. */
  readonly isShortened: boolean
}

export interface RandomProviderOptions {
  readonly seed: number
  /** Whether reasoning can be sent back to a provider that has not kept it. */
  readonly isSealed: boolean
}

/** A provider over HTTP whose model does what a seed says: calls, reasoning, commentary, answers, and all that breaks. */
export async function startRandomProvider({
  seed,
  isSealed,
}: RandomProviderOptions): Promise<RandomProvider> {
  const random = new Random(seed)
  const told: Told[] = []
  const rejections: string[] = []
  let isCalm = false
  let lost = 0
  const provider = await startScriptedProvider(
    (request) => {
      const number = told.length + 1
      const turn = isCalm ? saying(`[a${number}] calm`) : randomTurn(random, request, { number, isSealed })
      told.push({ request, output: turn.output ?? [] })
      return turn
    },
    { compact: Array.from({ length: 100 }, () => (random.chance(0.15) ? statusTurn(500) : {})) },
  )
  onTestFinished(() => provider.close())
  const watched: typeof globalThis.fetch = async (url, init) => {
    const response = await fetch(url, init)
    if (response.status < 400) return response
    const text = await response.clone().text()
    if (text.includes('previous_response_not_found')) lost += 1
    else if (!text.includes(SCRIPTED)) rejections.push(`refused with ${response.status} ${text}`)
    return response
  }
  return {
    url: provider.url,
    fetch: watched,
    rejections,
    get lost() {
      return lost
    },
    get told() {
      return told.length
    },
    readFrom: (number) => {
      const at = told.findIndex(({ request }, index) => index >= number && isWork(request))
      return at === -1 ? null : readBy(told, at)
    },
    calm: () => (isCalm = true),
    forget: () => provider.forget(),
  }
}

const SCRIPTED = 'as the script says'

// Nobody who is asked for a summary has tools.
function isWork({ tools }: CreateResponseBody): boolean {
  return (tools ?? []).length > 0
}

// The summaries of a conversation say which entries they cover; those that a run writes for itself do not.
const SHORTENED = /Summary of the earlier conversation:(?!\\ncovers entries)|"type":"compaction"/u

/** A request with all that the provider has of it by the ids of responses. */
function readBy(told: readonly Told[], last: number): ReadContext {
  const texts: string[] = []
  let isShortened = false
  let at: number | null = last
  while (at !== null) {
    const { request, output }: Told = told[at] ?? { request: {}, output: [] }
    const input = JSON.stringify(request.input ?? [])
    if (at !== last) {
      texts.unshift(JSON.stringify(output))
      isShortened ||= SHORTENED.test(input)
    }
    texts.unshift(input)
    const previousId: string | null = request.previous_response_id ?? null
    // Responses are numbered from 1, in the order in which they were begun.
    at = previousId === null ? null : Number(previousId.slice('resp_'.length)) - 1
  }
  return { text: texts.join('\n'), isContinued: texts.length > 1, isShortened }
}

interface TurnPlace {
  readonly number: number
  readonly isSealed: boolean
}

function randomTurn(random: Random, request: CreateResponseBody, place: TurnPlace): ScriptTurn {
  const { number } = place
  if (!isWork(request)) {
    return random.chance(0.2) ? statusTurn(500) : saying(`[s${number}] They talked about numbers.`)
  }
  if (random.chance(0.04)) return statusTurn(random.pick([500, 503, 400, 429]))
  const output = random.chance(0.45) ? callingItems(random, place) : answeringItems(random, place)
  const turn: ScriptTurn = { output, chunk_bytes: random.between(200, 4000) }
  if (random.chance(0.04)) {
    const at_byte = random.between(0, 2500)
    return { ...turn, fault: { type: random.pick(['truncate', 'reset']), at_byte } }
  }
  if (random.chance(0.02)) return { ...turn, end: { status: 'failed' } }
  return random.chance(0.03) ? { ...turn, end: { status: 'incomplete' } } : turn
}

function statusTurn(status: number): ScriptTurn {
  const error: JsonObject = { message: SCRIPTED, type: 'scripted', param: null, code: null }
  return { fault: { type: 'status', status, body: { error } } }
}

function saying(text: string): ScriptTurn {
  return { output: [{ type: 'message', text }] }
}

function reasoning(random: Random, { number, isSealed }: TurnPlace): readonly ScriptItem[] {
  if (random.chance(0.5)) return []
  const item = { type: 'reasoning', summary: `thought ${number}` } as const
  return [isSealed ? { ...item, encrypted: `sealed${number}` } : item]
}

function commentary(random: Random, { number }: TurnPlace): readonly ScriptItem[] {
  if (random.chance(0.7)) return []
  return [{ type: 'message', text: `[c${number}] Let me see.`, phase: 'commentary' }]
}

const TOOLS = ['look', 'look', 'look', 'post', 'post', 'fail', 'ask', 'slow', 'ghost'] as const

function callingItems(random: Random, place: TurnPlace): readonly ScriptItem[] {
  const calls = Array.from({ length: random.pick([1, 1, 2, 3, 4]) }, (_, at): ScriptItem => {
    const n = place.number * 10 + at
    const args = random.chance(0.04) ? `{"n":${n}` : { n }
    return { type: 'function_call', name: random.pick(TOOLS), arguments: args }
  })
  const said = commentary(random, place)
  const [before, after] = random.chance(0.8) ? [said, []] : [[], said]
  return [...reasoning(random, place), ...before, ...calls, ...after]
}

function answeringItems(random: Random, place: TurnPlace): readonly ScriptItem[] {
  const { number } = place
  const said = commentary(random, place)
  const text = [`[a${number}] `, 'It is ', `${number}.`]
  const answer: ScriptItem =
    said.length > 0 ? { type: 'message', text, phase: 'final_answer' } : { type: 'message', text }
  if (random.chance(0.04)) return [...reasoning(random, place), { type: 'refusal', text: `[a${number}] No.` }]
  return [...reasoning(random, place), ...said, ...(said.length > 0 ? reasoning(random, place) : []), answer]
}
