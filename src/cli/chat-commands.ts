import type { CompactionWay, Conversation, ConversationUsage } from '../conversation/conversation-api.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { RunStore } from '../journal/run-store.ts'
import { explainRun } from '../replay/explain-run.ts'
import type { Config } from './config-file.ts'
import { describeRun } from './describe-run.ts'
import { describeCost, describeTokens } from './describe-usage.ts'
import { countOf } from './run-figures.ts'

export interface CommandContext {
  readonly talk: Conversation
  readonly store: RunStore
  readonly budget: Config['budget']
}

/** What a command came to. */
export interface CommandResult {
  /** For people, line by line. */
  readonly lines: readonly string[]
  /** The conversation to go on in. */
  readonly moveTo?: Conversation
  readonly isQuit?: true
}

interface ChatCommand {
  readonly name: string
  /** What may follow the name. */
  readonly argument?: string
  readonly summary: string
  readonly act: (context: CommandContext, argument: string) => CommandResult | Promise<CommandResult>
}

/** Does what a line that begins with a slash says. */
export async function runCommand(line: string, context: CommandContext): Promise<CommandResult> {
  const [, name = '', argument = ''] = /^(\/\S*)\s*([^]*)$/u.exec(line.trim()) ?? []
  const command = COMMANDS.find((known) => known.name === name)
  if (command === undefined) {
    return { lines: [`there is no command ${name}; /help lists them, and // begins a message with a slash`] }
  }
  if (argument !== '' && command.argument === undefined) {
    return { lines: [`${name} takes nothing more; /help lists the commands`] }
  }
  try {
    return await command.act(context, argument)
  } catch (error) {
    if (!(error instanceof LoopchartError)) throw error
    return { lines: [`${error.message} [${error.code}]`] }
  }
}

/** The names of commands that begin so. */
export function commandsFrom(beginning: string): readonly string[] {
  return beginning.startsWith('/')
    ? COMMANDS.map(({ name }) => name).filter((name) => name.startsWith(beginning))
    : []
}

const COMMANDS: readonly ChatCommand[] = [
  { name: '/state', summary: 'where the conversation is', act: state },
  { name: '/explain', summary: 'what the last run did, why it ended so, and what it was told', act: explain },
  { name: '/usage', summary: 'what the conversation has used up', act: usage },
  {
    name: '/fork',
    argument: '[ENTRY]',
    summary: 'go on in a new conversation that begins as this one, up to an entry',
    act: fork,
  },
  {
    name: '/compact',
    argument: '[rules|model|provider]',
    summary: 'have older messages summarised now',
    act: compact,
  },
  { name: '/help', summary: 'list the commands', act: help },
  { name: '/quit', summary: 'leave; Ctrl-D does too', act: () => ({ lines: [], isQuit: true }) },
]

function help(): CommandResult {
  const heads = COMMANDS.map(({ name, argument = '' }) => `${name} ${argument}`.trim())
  const width = Math.max(...heads.map(({ length }) => length))
  return {
    lines: COMMANDS.map(({ summary }, at) => `${(heads[at] ?? '').padEnd(width)}  ${summary}`),
  }
}

function state({ talk, store }: CommandContext): CommandResult {
  const last = lastFrame(store, talk, 'conversation_run_started')?.child_run_id ?? null
  const { messages } = talk.usage
  return {
    lines: [
      `conversation ${talk.id}: ${talk.state}, ${countOf(messages, 'message')}, ${entriesOf(talk)}`,
      `model ${talk.agent.models.map(({ name }) => name).join(', ')}`,
      ...(last === null ? [] : [`last run ${last}`]),
      ...(talk.openRun === null ? [] : [`run ${talk.openRun} has not ended`]),
    ],
  }
}

function entriesOf({ entries }: Conversation): string {
  const count = entries.length
  return count === 1 ? '1 entry' : `${count} entries`
}

function explain({ talk, store }: CommandContext): CommandResult {
  const last = lastFrame(store, talk, 'conversation_run_started')
  if (last === null) return { lines: ['nothing has been sent in this conversation yet'] }
  const told = lastFrame(store, talk, 'context_selected')
  return {
    lines: [
      ...describeRun(explainRun(store.read(last.child_run_id))),
      ...(told?.child_run_id === last.child_run_id ? [selectionOf(told.selection)] : []),
    ],
  }
}

function selectionOf(selection: Readonly<Record<string, unknown>>): string {
  const { strategy, recent, tokens, budget_tokens: budget, left_out: leftOut } = selection
  const cut =
    Array.isArray(leftOut) && leftOut.length > 0 ? `, ${countOf(leftOut.length, 'part')} left out` : ''
  const most = typeof budget === 'number' ? ` of at most ${budget}` : ''
  return `was told: ${String(strategy)}, up to ${String(recent)} messages, about ${String(tokens)} tokens${most}${cut}`
}

function usage({ talk, budget }: CommandContext): CommandResult {
  const { usage: used } = talk
  return {
    lines: [
      `${describeTokens(used)} in ${countOf(used.messages, 'message')} and ${countOf(used.runs, 'run')}`,
      ...(used.cost === null ? [] : [describeCost(used.cost)]),
      ...leftOf(used, budget),
    ],
  }
}

function leftOf(
  used: ConversationUsage,
  { tokens, cost }: NonNullable<Config['budget']> = {},
): readonly string[] {
  const ofTokens =
    tokens === undefined ? [] : [`${Math.max(tokens - used.total_tokens, 0)} of ${tokens} tokens`]
  const ofCost =
    cost === undefined ? [] : [`${describeCost(Math.max(cost - (used.cost ?? 0), 0))} of ${cost}`]
  const left = [...ofTokens, ...ofCost]
  return left.length === 0 ? [] : [`left of the budget: ${left.join(', ')}`]
}

async function fork({ talk }: CommandContext, argument: string): Promise<CommandResult> {
  if (!/^\d{0,9}$/u.test(argument)) return { lines: ['/fork takes the number of an entry'] }
  const moveTo = await talk.fork(argument === '' ? {} : { at: Number(argument) })
  const where = argument === '' ? 'as far as it is' : `up to entry ${argument}`
  return { lines: [`now in conversation ${moveTo.id}, which begins as ${talk.id}, ${where}`], moveTo }
}

const WAYS: readonly CompactionWay[] = ['rules', 'model', 'provider']

async function compact({ talk }: CommandContext, argument: string): Promise<CommandResult> {
  const way = WAYS.find((known) => known === argument)
  if (way === undefined && argument !== '') return { lines: [`/compact takes one of ${WAYS.join(', ')}`] }
  const result = await talk.compact(way === undefined ? {} : { way })
  if (result.status === 'refused') return { lines: [`not compacted: ${result.reason}`] }
  const why = result.detail === null ? '' : ` (${result.detail})`
  return {
    lines: [
      `compacted by ${result.way}${why}: ${countOf(result.tokensBefore, 'token')} before, ${countOf(result.tokensAfter, 'token')} after`,
    ],
  }
}

function lastFrame<Type extends Frame['type']>(
  store: RunStore,
  { id, entries }: Conversation,
  type: Type,
): Extract<Frame, { type: Type }> | null {
  let last: Extract<Frame, { type: Type }> | null = null
  const isOne = (frame: Frame): frame is Extract<Frame, { type: Type }> => frame.type === type
  // A conversation that has only just begun may not be written yet.
  if (entries.length === 0) return null
  for (const frame of store.read(id)) if (isOne(frame)) last = frame
  return last
}
