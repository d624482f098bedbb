// One client in a process of its own: does what it is told by messages, and answers what that took.
import { answerLength, noteText } from './answers.ts'
import type { Client, SeenLoop } from './client.ts'
import { CLIENTS } from './client-list.ts'
import { takeNoted } from './note.ts'
import type { Taken, Task } from './task.ts'

const [, , name = ''] = process.argv
const listed = CLIENTS[name]
if (listed === undefined) throw new Error(`${name} is none of ${Object.keys(CLIENTS).join(', ')}`)
const client = await listed.load()

process.on('message', (task: Task) => {
  perform(client, task).then(
    (taken) => process.send?.({ taken }),
    (error: unknown) =>
      process.send?.({ failed: error instanceof Error ? String(error.stack) : String(error) }),
  )
})
process.on('disconnect', () => {
  client.close?.()
  process.exit(0)
})
process.send?.({ ready: name })

/** Does a task and checks that all of it was done: a figure of a client that skips work means nothing. */
async function perform(client: Client, task: Task): Promise<Taken> {
  const firstTextsAt: bigint[] = []
  const before = process.cpuUsage()
  const check = await work(client, task, firstTextsAt)
  const { user, system } = process.cpuUsage(before)
  check()
  return { cpuUs: user + system, peakRssKib: process.resourceUsage().maxRSS, firstTextsAt }
}

async function work(client: Client, task: Task, firstTextsAt: bigint[]): Promise<() => void> {
  switch (task.kind) {
    case 'answer': {
      const seen = await client.answer(task.baseUrl)
      const characters = answerLength(task.deltas)
      return () => expectSame(seen, { deltas: task.deltas, characters })
    }
    case 'loop': {
      const seen: SeenLoop[] = []
      for (let done = 0; done < task.times; done += 1) {
        seen.push(await client.loop(task.baseUrl, task.continuity))
      }
      return () => checkLoops(seen, task.turns)
    }
    case 'loops-at-once': {
      const seen = await Promise.all(
        Array.from({ length: task.times }, () => client.loop(task.baseUrl, task.continuity)),
      )
      return () => checkLoops(seen, task.turns)
    }
    case 'first': {
      for (let done = 0; done < task.times; done += 1) firstTextsAt.push(await client.first(task.baseUrl))
      return () => {
        if (firstTextsAt.some((at) => at === 0n)) throw new Error('no text was seen')
      }
    }
  }
}

function checkLoops(seen: readonly SeenLoop[], turns: number): void {
  for (const one of seen) expectSame(one, { turns, text: 'done' })
  let characters = 0
  for (let turn = 0; turn < turns - 1; turn += 1) characters += noteText(turn).length
  expectSame(takeNoted(), { calls: (turns - 1) * seen.length, characters: characters * seen.length })
}

function expectSame(seen: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(seen), JSON.stringify(expected)]
  if (is !== should) throw new Error(`saw ${is} instead of ${should}`)
}
