import type { Frame } from '../frames/generated/frame.ts'
import { fallbackFromNative } from '../history/tool-history/fallback-from-native.ts'
import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'
import { chooseToolStrategy } from './choose-tool-strategy.ts'
import type { ConversationParts } from './conversation-parts.ts'

/** Whether the provider refused the first request of a run over calls of earlier ones, and may be told them as text. */
export function isToldOtherwise(
  { agent, settings, log }: ConversationParts,
  frames: readonly Frame[],
): boolean {
  const [started] = frames
  const last = frames.at(-1)
  if (last?.type !== 'run_ended' || last.state !== 'failed' || !hasCalls(started)) return false
  const { canFallBack } = chooseToolStrategy(agent, settings, log.memory)
  const settled = frames.filter((frame) => frame.type === 'response_settled')
  const head = frames.findLast((frame) => frame.type === 'response_headers')
  // A model of the user's own need not tell of a head.
  const isRefused = settled.length === 1 && (head === undefined || head.status === 400)
  const said = canFallBack && isRefused ? errorBody(frames) : undefined
  return isJsonObject(said) && fallbackFromNative({ ...said, status: 400 })
}

function hasCalls(started: Frame | undefined): boolean {
  if (started?.type !== 'run_started' || typeof started.input === 'string') return false
  return started.input.some((item) => item['type'] === 'function_call')
}

/** What the provider said instead of a response. */
function errorBody(frames: readonly Frame[]): Json | undefined {
  for (const frame of frames.toReversed()) {
    if (frame.type !== 'warning' || frame.cause !== 'error_body') continue
    const { body } = frame.figures
    return typeof body === 'string' ? parseJson(body) : undefined
  }
  return undefined
}
