// What is known about providers, as data. A fact that no source vouches for is null, or is not here.

/** Changes with the facts below. */
export const PROFILES_VERSION = '2026-11-16.v2'

export type ProfileName =
  | 'openai'
  | 'openrouter'
  | 'vercel-gateway'
  | 'ollama'
  | 'lmstudio'
  | 'vllm'
  | 'generic'

/** How one provider departs from the others. */
export interface ProviderProfile {
  readonly name: ProfileName
  /** Where it is when nobody says; null: there is no such place. */
  readonly baseUrl: string | null
  /** The base URLs that are surely its own. */
  readonly places: readonly ProviderPlace[]
  /** Whether it keeps responses and continues by `previous_response_id`; null: not known. */
  readonly canContinueById: boolean | null
  /** Fields of a request that it refuses, or takes and drops without a word. */
  readonly unsupported: readonly string[]
  /** Said after tool outputs where input without a user message is refused. */
  readonly followUpMessage: string | null
  /** Whether it takes calls that it did not just make as `function_call` items; false where that is not known. */
  readonly nativeToolHistory: boolean
  /** Whether it has `POST /responses/compact`; null: not known, and then it is not asked. */
  readonly canCompact: boolean | null
  /** How many tokens a request and its response may have together, for all of its models; null: it depends. */
  readonly contextWindow: number | null
  readonly needsKey: boolean
  /** The environment variable that holds a key for its places, and for no other. */
  readonly keyVariable: string | null
  /** What else to know, in sentences. */
  readonly quirks: readonly string[]
}

/** A host, a port, or both; `loopback` stands for this machine. */
interface ProviderPlace {
  readonly host?: string
  readonly port?: number
}

const openai: ProviderProfile = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  places: [{ host: 'api.openai.com' }],
  canContinueById: true,
  unsupported: [],
  followUpMessage: null,
  nativeToolHistory: true,
  canCompact: true,
  contextWindow: null,
  needsKey: true,
  keyVariable: 'OPENAI_API_KEY',
  quirks: [
    'Refuses a follow-up that leaves a call of the last response without an output.',
    'Sends reasoning as response.reasoning_text events, and keepalive events while it thinks.',
    'Its compaction gives the user messages and one item that only it can read; the next request begins a new chain with them.',
    'Ends with status 429 and insufficient_quota when the account has no credit: waiting does not help.',
  ],
}

const openrouter: ProviderProfile = {
  name: 'openrouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  places: [{ host: 'openrouter.ai' }],
  canContinueById: false,
  unsupported: ['previous_response_id', 'store'],
  followUpMessage: null,
  nativeToolHistory: true,
  canCompact: null,
  contextWindow: null,
  needsKey: true,
  keyVariable: 'OPENROUTER_API_KEY',
  quirks: [
    'Keeps nothing: store: true and previous_response_id are answered with 400.',
    'Sends comments while a request waits in line: bytes, but no events.',
  ],
}

const vercelGateway: ProviderProfile = {
  name: 'vercel-gateway',
  baseUrl: 'https://ai-gateway.vercel.sh/v1',
  places: [{ host: 'ai-gateway.vercel.sh' }],
  canContinueById: false,
  unsupported: ['previous_response_id'],
  followUpMessage: null,
  nativeToolHistory: true,
  canCompact: null,
  contextWindow: null,
  needsKey: true,
  keyVariable: 'AI_GATEWAY_API_KEY',
  quirks: [
    'Passes instructions, parallel_tool_calls, metadata and previous_response_id to OpenAI models only; a developer message reaches all.',
    'Wants at least one user message in the input.',
    'Refused function_call items in the input until 31 January 2026.',
    'Turns arguments that are not JSON into {} in the function_call items that it is sent.',
  ],
}

const ollama: ProviderProfile = {
  name: 'ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  places: [{ port: 11_434 }],
  canContinueById: false,
  unsupported: ['previous_response_id'],
  followUpMessage: null,
  nativeToolHistory: true,
  canCompact: null,
  contextWindow: null,
  needsKey: false,
  keyVariable: null,
  quirks: ['Has /responses since 0.13.3, without stored responses; older ones answer 404.'],
}

const lmstudio: ProviderProfile = {
  name: 'lmstudio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  places: [{ host: 'loopback', port: 1234 }],
  canContinueById: true,
  unsupported: [],
  followUpMessage: null,
  nativeToolHistory: false,
  canCompact: null,
  contextWindow: null,
  needsKey: false,
  keyVariable: null,
  quirks: [
    'Has /responses since 0.3.29.',
    'Sends the arguments of a call whole, without deltas, and reasoning as response.reasoning_text events.',
  ],
}

const vllm: ProviderProfile = {
  name: 'vllm',
  baseUrl: 'http://127.0.0.1:8000/v1',
  // Port 8000 is anybody's.
  places: [],
  canContinueById: false,
  unsupported: ['previous_response_id'],
  followUpMessage: null,
  nativeToolHistory: true,
  canCompact: null,
  contextWindow: null,
  needsKey: false,
  keyVariable: null,
  quirks: [
    'Keeps responses only when it was started with VLLM_ENABLE_RESPONSES_API_STORE=1.',
    'Sends response.reasoning_part and response.reasoning_text events.',
    'Has written tool calls into the text of the answer, for some models.',
  ],
}

const generic: ProviderProfile = {
  name: 'generic',
  baseUrl: null,
  places: [],
  canContinueById: null,
  unsupported: [],
  followUpMessage: null,
  nativeToolHistory: false,
  canCompact: null,
  contextWindow: null,
  needsKey: false,
  keyVariable: null,
  quirks: [],
}

export const PROFILES: Readonly<Record<ProfileName, ProviderProfile>> = {
  openai,
  openrouter,
  'vercel-gateway': vercelGateway,
  ollama,
  lmstudio,
  vllm,
  generic,
}

/** The profile of whoever is at a base URL, `generic` when that cannot be told. Never throws. */
export function profileFor(baseUrl: string | URL): ProviderProfile {
  const url = URL.parse(String(baseUrl))
  if (url === null) return generic
  return (
    Object.values(PROFILES).find(({ places }) => places.some((place) => isPlaceOf(place, url))) ?? generic
  )
}

function isPlaceOf({ host, port }: ProviderPlace, url: URL): boolean {
  const isHost =
    host === undefined || (host === 'loopback' ? isLoopback(url.hostname) : host === url.hostname)
  return isHost && (port === undefined || String(port) === url.port)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/u.test(hostname)
}
