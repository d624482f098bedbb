import { callOutput } from '../../machines/loop.rules.ts'
import type { LoopCall, LoopContext, Outcome, TokenUsage } from '../../machines/loop.types.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { ToolWorkItem } from '../history/context-bundle/tool-work.ts'
import type { Agent } from '../loop/agent.ts'
import { inputItems } from '../loop/input-items.ts'
import { restoreRun } from '../loop/restore-run.ts'
import type { AnyItem, InputItem } from '../protocol/items.ts'
import type { ProviderCursor } from './conversation-memory.ts'
import type { NewEntry } from './entry-frame.ts'

/** What a run leaves behind in the conversation that it was for. */
export interface Harvest {
  readonly entries: readonly NewEntry[]
  readonly usage: TokenUsage
  /** Where the provider would go on from; null when it would go on from something else than this conversation. */
  readonly cursor: Pick<ProviderCursor, 'endpoint' | 'model' | 'responseId'> | null
}

export interface HarvestOptions {
  readonly agent: Agent
  readonly messageSeq: number
  /** How many entries the conversation has. */
  readonly nextSeq: number
}

/**
 * Reads from the log of a run, ended or not, what it said and did: each response with the outputs of its calls, what
 * people said meanwhile, and the answer. What the run compacted away for itself is in it.
 */
export function harvestRun(frames: readonly Frame[], options: HarvestOptions): Harvest {
  const { agent } = options
  const [first] = frames
  const { items, context } = itemsOf(frames)
  const sent = inputItems([...items, ...openOutputs(context)], {
    mode: 'stateless',
    // A provider forgets what it stored, a conversation does not: reasoning that is only an id would be refused then.
    isStored: false,
    answerText: agent.tools.answerText,
  })
  return {
    entries: entriesOf(sent.items, saidTo(items, context), {
      ...options,
      runId: first?.run_id ?? '',
      settings: context.settings,
    }),
    usage: context.usage,
    cursor: isStored(agent) ? cursorOf(frames, context) : null,
  }
}

function isStored({ description }: Agent): boolean {
  return description.plans[0]?.requestOptions.store !== false
}

interface RunItems {
  /** What came behind the input. */
  readonly items: readonly AnyItem[]
  readonly context: LoopContext
}

function itemsOf(frames: readonly Frame[]): RunItems {
  const items: AnyItem[] = []
  let known: readonly AnyItem[] | null = null
  const { snapshot } = restoreRun(frames, (_, step) => {
    const now = step.snapshot.context.items
    // A compaction puts other items in the place of those that were taken already.
    if (known !== null && isExtension(known, now)) items.push(...now.slice(known.length))
    known = now
  })
  return { items, context: snapshot.context }
}

function isExtension(before: readonly AnyItem[], after: readonly AnyItem[]): boolean {
  return after.length >= before.length && after[before.length - 1] === before.at(-1)
}

/** Outputs for the calls that no request has answered yet. */
function openOutputs({ calls, ending }: LoopContext): readonly AnyItem[] {
  const isLimit = ending?.state === 'limitExceeded'
  return calls.map((call) => callOutput(call, openOutcome(call, isLimit)))
}

function openOutcome({ status }: LoopCall, isLimit: boolean): Outcome {
  if (status === 'running' || status === 'inDoubt') return 'outcome_unknown'
  return isLimit ? 'limit' : 'cancelled'
}

/** Messages that a run got on its way, in order. */
interface Said {
  /** Those that were sent: whether the loop itself said each. */
  readonly byLoop: readonly boolean[]
  /** Those of people that the run ended before it could send. */
  readonly unsent: readonly string[]
}

function saidTo(items: readonly AnyItem[], { steers }: LoopContext): Said {
  const messages = items.filter(({ type, role }) => type === 'message' && role === 'user')
  return {
    byLoop: messages.map(({ by }) => by === 'loop'),
    unsent: steers.flatMap(({ text, by }) => (by === undefined ? [text] : [])),
  }
}

interface EntryPlace {
  readonly runId: string
  readonly settings: LoopContext['settings']
  readonly messageSeq: number
  readonly nextSeq: number
}

/** What the model put out together, with the outputs that answer it. */
type Group = ToolWorkItem[]

function entriesOf(
  items: readonly InputItem[],
  { byLoop, unsent }: Said,
  { runId, messageSeq, nextSeq, settings }: EntryPlace,
): readonly NewEntry[] {
  const entries: NewEntry[] = []
  let messages = 0
  let about = messageSeq
  let group: Group = []
  const flush = (): void => {
    if (group.length > 0) addGroup(entries, group, { runId, messageSeq: about })
    group = []
  }
  const say = (text: string): void => {
    about = nextSeq + entries.length
    entries.push({ type: 'message', role: 'user', text })
  }
  for (const item of items) {
    if (isWork(item)) {
      const isNext = item.type !== 'function_call_output' && group.at(-1)?.type === 'function_call_output'
      if (isNext) flush()
      group.push(item)
      continue
    }
    flush()
    if (item.type !== 'message' || item.role !== 'user') continue
    const isOwn = byLoop[messages] === true
    messages += 1
    if (!isOwn) say(textOf(item))
    // An answer that the loop sent back is not the answer.
    else if (isRepair(item, settings) && entries.at(-1)?.type === 'answer') entries.pop()
  }
  flush()
  // Said to a run that ended before it could tell it to the model.
  for (const text of unsent) say(text)
  return entries
}

function isRepair(item: InputItem, { followUpMessage, continueMessage }: LoopContext['settings']): boolean {
  const text = textOf(item)
  return text !== followUpMessage && text !== continueMessage
}

function addGroup(
  entries: NewEntry[],
  group: Group,
  of: { readonly runId: string; readonly messageSeq: number },
): void {
  if (!group.some(({ type }) => type === 'function_call')) {
    const text = answerOf(group)
    if (text !== '') entries.push({ type: 'answer', ...of, text })
    return
  }
  const last = entries.at(-1)
  if (last?.type === 'tool_work' && last.messageSeq === of.messageSeq) {
    entries[entries.length - 1] = { ...last, groups: [...last.groups, group] }
  } else entries.push({ type: 'tool_work', ...of, groups: [group] })
}

function isWork(item: InputItem): item is ToolWorkItem {
  switch (item.type) {
    case 'reasoning':
    case 'function_call':
    case 'function_call_output':
      return true
    case 'message':
      return item.role === 'assistant'
    default:
      return false
  }
}

/** The answer in a response without calls: where a message is marked as final, what comes before it is commentary. */
function answerOf(group: Group): string {
  const messages = group.filter((item) => item.type === 'message')
  const final = messages.filter(({ phase }) => phase === 'final_answer')
  return (final.length > 0 ? final : messages).map(textOf).join('')
}

function textOf(item: InputItem): string {
  if (item.type !== 'message') return ''
  const { content } = item
  if (typeof content === 'string') return content
  return content
    .map((part) => {
      if ('text' in part && typeof part.text === 'string') return part.text
      return 'refusal' in part && typeof part.refusal === 'string' ? part.refusal : ''
    })
    .join('')
}

/** Only of a run that came to its end: a provider that was stopped half way knows something else than we do. */
function cursorOf(
  frames: readonly Frame[],
  { route, responseId, items, knownItems }: LoopContext,
): Harvest['cursor'] {
  const last = frames.at(-1)
  const sent = frames.findLast((frame) => frame.type === 'request_sent')
  if (last?.type !== 'run_ended' || last.state !== 'done' || sent === undefined) return null
  if (route.mode !== 'previous_response_id' || responseId === null || knownItems < items.length) return null
  return { endpoint: sent.endpoint, model: sent.model, responseId }
}
