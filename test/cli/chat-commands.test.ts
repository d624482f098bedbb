import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import {
  commandsFrom,
  runCommand,
  type CommandContext,
  type CommandResult,
} from '../../src/cli/chat-commands.ts'
import { conversation } from '../../src/conversation/conversation.ts'
import type { ConversationOptions } from '../../src/conversation/conversation-api.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { makeFolder } from './run-cli.ts'

const USAGE = { input_tokens: 1000, output_tokens: 50, cached_tokens: 800, reasoning_tokens: 20 }

/** A conversation in which some long messages were answered. */
async function talked(times: number, options: ConversationOptions = {}): Promise<CommandContext> {
  const store = openStore(join(makeFolder(), 'runs.db'))
  const answers = Array.from({ length: times + 2 }, (_, at) => ({
    output: [{ type: 'message' as const, text: `Answer ${at}. ${'It is so. '.repeat(200)}` }],
    usage: USAGE,
  }))
  const talk = conversation(agent({ model: scriptedModel(answers) }), { id: 'talk_1', store, ...options })
  onTestFinished(async () => {
    await talk.close()
    store.close()
  })
  for (let at = 0; at < times; at += 1) await talk.send(`Question ${at}. ${'Is it so? '.repeat(200)}`)
  return { talk, store, budget: options.budget }
}

async function linesOf(result: Promise<CommandResult>): Promise<string> {
  return (await result).lines.join('\n')
}

test('/state says where the conversation is, and what its last run was', async () => {
  const context = await talked(2)
  expect(await linesOf(runCommand('/state', context))).toBe(
    'conversation talk_1: idle, 2 messages, 4 entries\nmodel scripted-1\nlast run talk_1.2',
  )
})

test('/explain says how the last run ended and what it was told; before the first, that there is none', async () => {
  const context = await talked(1)
  const told = await linesOf(runCommand('/explain', context))
  expect(told).toContain('run talk_1.0: ended as done')
  expect(told).toMatch(
    /^was told: recent_messages_v1, up to \d+ messages, about \d+ tokens of at most \d+$/mu,
  )
  expect(await linesOf(runCommand('/explain', await talked(0)))).toBe(
    'nothing has been sent in this conversation yet',
  )
})

test('/usage says what was used, what it cost, and what is left of the budget', async () => {
  const prices = { input: 1, cachedInput: 0.1, output: 4 }
  const context = await talked(2, { prices, budget: { tokens: 10_000, cost: 1 } })
  expect(await linesOf(runCommand('/usage', context))).toBe(
    [
      '2,100 tokens (2000 in with 1600 cached, 100 out with 40 reasoning) in 2 messages and 2 runs',
      'cost 0.00096',
      'left of the budget: 7900 of 10000 tokens, cost 0.999 of 1',
    ].join('\n'),
  )
  expect(await linesOf(runCommand('/usage', await talked(1)))).not.toMatch(/cost|budget/u)
})

test('/fork gives a new conversation that begins as this one, as far as it is or up to an entry', async () => {
  const context = await talked(2)
  for (const [line, entries] of [
    ['/fork', 4],
    ['/fork 1', 2],
  ] as const) {
    const { moveTo, lines } = await runCommand(line, context)
    onTestFinished(() => moveTo?.close())
    expect(moveTo?.entries).toHaveLength(entries)
    expect(lines[0]).toContain(`now in conversation ${moveTo?.id ?? ''}, which begins as talk_1`)
  }
  expect(await linesOf(runCommand('/fork 99', context))).toBe('the conversation has no entry 99 [usage]')
  expect(await linesOf(runCommand('/fork here', context))).toBe('/fork takes the number of an entry')
})

test('/compact says who wrote the summary and what it came to, or why there is none', async () => {
  const context = await talked(4)
  expect(await linesOf(runCommand('/compact rules', context))).toMatch(
    /^compacted by rules: [\d,]+ tokens before, [\d,]+ tokens after$/u,
  )
  expect(await linesOf(runCommand('/compact', await talked(0)))).toMatch(/^not compacted: /u)
  expect(await linesOf(runCommand('/compact magic', context))).toBe(
    '/compact takes one of rules, model, provider',
  )
})

test('/help lists every command, and each that it lists is one', async () => {
  const context = await talked(0)
  const { lines } = await runCommand('/help', context)
  expect(lines.map((line) => line.split(' ')[0])).toEqual(commandsFrom('/'))
  expect(commandsFrom('/')).toEqual(['/state', '/explain', '/usage', '/fork', '/compact', '/help', '/quit'])
})

test('/quit leaves; a command that there is not, or with too many words, says so and does nothing', async () => {
  const context = await talked(0)
  expect(await runCommand('/quit', context)).toEqual({ lines: [], isQuit: true })
  expect(await linesOf(runCommand('/nope', context))).toBe(
    'there is no command /nope; /help lists them, and // begins a message with a slash',
  )
  expect(await runCommand('/quit now', context)).toEqual({
    lines: ['/quit takes nothing more; /help lists the commands'],
  })
})

test('only what begins with a slash is completed', () => {
  expect(commandsFrom('/c')).toEqual(['/compact'])
  expect(commandsFrom('')).toEqual([])
})
