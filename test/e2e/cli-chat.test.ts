import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { openStore } from '../../src/journal/open-store.ts'
import { cli, framesIn, startCli } from '../cli/run-cli.ts'
import { echoing } from './cli-chat-kit.ts'
import { place, runsIn, type Place } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const ASKING = "{ needsApproval: true, execute: () => 'launched' }"

async function at(tool?: string): Promise<Place> {
  return place(await echoing(), tool)
}

test('each line of a pipe is a message of one conversation, blank ones are none, and the answers are on stdout', async () => {
  const { flags } = await at()
  const { code, out, err } = await cli(['chat', ...flags], { input: 'one\n\n  \r\ntwo\r\nthree' })
  expect(out).toBe('I know 1: one.\nI know 2: two.\nI know 3: three.\n')
  expect(err).toMatch(/^conversation [0-9a-f-]{36}, new$/mu)
  expect(err).toMatch(
    /^come back with: loopchart chat --conversation [0-9a-f-]{36} --store \S+ --agent \S+$/mu,
  )
  expect(code).toBe(0)
})

test('a line of a pipe that begins with a slash is a message like any other', async () => {
  const { flags } = await at()
  const { out } = await cli(['chat', ...flags], { input: '/quit\n' })
  expect(out).toBe('I know 1: /quit.\n')
})

test('a conversation goes on in another process, by chat and by run, and is listed', async () => {
  const where = await at()
  const talk = [...where.flags, '--conversation', 'mine']
  await cli(['chat', ...talk], { input: 'one\n' })
  const sent = await cli(['run', 'two', ...talk])
  expect([sent.code, sent.out]).toEqual([0, 'I know 2: two.\n'])
  expect(sent.err).toContain('run mine.2\n')
  expect(sent.err).not.toContain('is new')
  const again = await cli(['chat', ...talk], { input: 'three\n' })
  expect(again.err).toContain('conversation mine, 2 messages\n')
  expect(again.out).toBe('I know 3: three.\n')
  const listed = await cli(['conversations', '--store', where.store])
  expect(listed.out).toMatch(/^conversation +messages +age +model +owner\nmine +3 +now +m +-\n$/u)
  const facts = await cli(['chats', '--store', where.store, '--json'])
  expect(JSON.parse(facts.out)).toEqual([
    expect.objectContaining({ id: 'mine', messages: 3, model: 'm', owner: null }),
  ])
  const runs = await cli(['runs', '--store', where.store, '--json'])
  expect(
    JSON.parse(runs.out)
      .map(({ runId }: { runId: string }) => runId)
      .toSorted(),
  ).toEqual(['mine.0', 'mine.2', 'mine.4'])
})

test('run says on stderr that a conversation is new, and keeps it without --store in a file of its own', async () => {
  const { flags, folder } = await at()
  const unkept = flags.slice(0, 2)
  const env = { XDG_STATE_HOME: folder }
  const { code, err } = await cli(['run', 'one', ...unkept, '--conversation', 'fresh'], { env })
  expect(code).toBe(0)
  expect(err).toContain('loopchart: conversation fresh is new\n')
  const listed = await cli(['conversations'], { env })
  expect(listed.out).toMatch(/^fresh +1 /mu)
  const none = await cli(['conversations'], { env: { XDG_STATE_HOME: `${folder}/elsewhere` } })
  expect([none.code, none.out]).toEqual([0, ''])
})

test('with --json every frame of every run is on stdout and nothing else', async () => {
  const { flags } = await at()
  const { out, err } = await cli(['chat', ...flags, '--json'], { input: 'one\ntwo\n' })
  const types = framesIn(out).map(({ type }) => type)
  expect(types.filter((type) => type === 'run_started' || type === 'run_ended')).toEqual([
    'run_started',
    'run_ended',
    'run_started',
    'run_ended',
  ])
  expect(err).toBe('')
})

test('after each turn the tokens are shown with cached and reasoning ones, and the cost by the prices', async () => {
  const { flags } = await at()
  const price = ['--price', 'input=1,cached=0.1,output=4']
  const { err } = await cli(['chat', ...flags, ...price], { input: 'one\ntwo\n' })
  const tokens = '1,050 tokens (1000 in with 800 cached, 50 out with 20 reasoning), cost 0.00048'
  expect(err).toContain(`${tokens}\n`)
  expect(err).toContain(`${tokens}; in all 2,100 tokens, cost 0.00096\n`)
})

test('a message after the budget is used up is refused with exit code 3, and those behind it are not sent', async () => {
  const provider = await echoing()
  const { flags } = place(provider)
  const { code, out, err } = await cli(['chat', ...flags, '--budget', 'tokens=2000'], {
    input: 'a\nb\nc\nd\n',
  })
  expect(out).toBe('I know 1: a.\nI know 2: b.\n')
  expect(err.match(/.*budget_used_up.*/gu)).toEqual([
    'loopchart: 2100 of 2000 tokens are used [budget_used_up]; raise it with --budget',
  ])
  expect([code, provider.requests.length]).toEqual([3, 2])
})

test('a run that comes to the end of the budget is stopped before its calls, and the flag to raise is named', async () => {
  const { flags, folder } = await at("{ execute: () => { did('ran'); return 1 } }")
  const { code, err } = await cli(['chat', ...flags, '--budget', 'tokens=1060'], {
    input: 'one\nlaunch it\n',
  })
  expect(code).toBe(3)
  expect(err).toMatch(/\[tokens\]; raise it with --budget tokens=N$/mu)
  expect(existsSync(join(folder, 'effects.txt'))).toBe(false)
})

test('a turn that fails does not end the chat, and the exit code is that of the last one', async () => {
  const { flags } = await at()
  const mended = await cli(['chat', ...flags], { input: 'break\ngo on\n' })
  expect([mended.code, mended.out]).toEqual([0, 'I know 2: go on.\n'])
  expect(mended.err).toMatch(/\[request_refused\]/u)
  const broken = await cli(['chat', ...flags], { input: 'go on\nbreak\n' })
  expect(broken.code).toBe(4)
})

test('a call that nobody can approve ends a piped chat with 5; once resumed, the conversation knows how it ended', async () => {
  const provider = await echoing()
  const where = place(provider, ASKING)
  const talk = [...where.flags, '--conversation', 'mine']
  const left = await cli(['chat', ...talk], { input: 'launch it\nand then\n' })
  expect([left.code, left.out]).toEqual([5, ''])
  expect(left.err).toMatch(/go on with: loopchart resume mine\.0 .*--approve-call call_7/u)

  const open = await cli(['chat', ...talk], { input: 'hello\n' })
  expect([open.code, open.out]).toEqual([6, ''])
  expect(open.err).toMatch(
    /run mine\.0 of this conversation has not ended; go on with: loopchart resume mine\.0 /u,
  )
  const sent = await cli(['run', 'hello', ...talk])
  expect([sent.code, sent.out]).toEqual([6, ''])
  expect(sent.err).toContain('loopchart chat --conversation mine can also leave it for good')

  const resumed = await cli(['resume', 'mine.0', ...where.flags, '--approve-call', 'call_7'])
  expect([resumed.code, resumed.out]).toEqual([0, 'It is launched.\n'])
  const on = await cli(['chat', ...talk], { input: 'and then\n' })
  expect([on.code, on.out]).toEqual([0, expect.stringMatching(/^I know \d: and then\.\n$/u)])
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toMatch(
    /launch it.*launched.*It is launched.*and then/su,
  )
})

test('SIGINT cancels the message under way and ends a piped chat with 130', async () => {
  const where = await at()
  const chat = startCli(['chat', ...where.flags], { input: 'wait\nmore\n' })
  await chat.until('out', /Wait/u)
  chat.child.kill('SIGINT')
  const { code } = await chat.done
  expect(code).toBe(130)
  expect(runsIn(where).map(({ state, kind }) => [kind, state])).toContainEqual(['run', 'cancelled'])
})

test('SIGTERM lets go of the message under way with 6, and the conversation can be taken up', async () => {
  const where = await at()
  const chat = startCli(['chat', ...where.flags, '--conversation', 'mine'], { input: 'wait\nmore\n' })
  await chat.until('out', /Wait/u)
  chat.child.kill('SIGTERM')
  const { code, err } = await chat.done
  expect(code).toBe(6)
  expect(err).toMatch(/the run is suspended; go on with: loopchart resume mine\.0 /u)
  expect(runsIn(where).find(({ runId }) => runId === 'mine.0')?.status).toBe('open')
})

test('a conversation that another process has open is refused with 6, and the list says who', async () => {
  const where = await at()
  const chat = startCli(['chat', ...where.flags, '--conversation', 'mine'], { input: 'wait\n' })
  await chat.until('out', /Wait/u)
  const other = await cli(['run', 'hello', ...where.flags, '--conversation', 'mine'])
  expect(other.code).toBe(6)
  expect(other.err).toContain(`conversation mine is open in process ${chat.child.pid}`)
  const listed = await cli(['conversations', '--store', where.store])
  expect(listed.out).toContain(`process ${chat.child.pid} on `)
})

test('a run is not taken for a conversation, nor a conversation for a run', async () => {
  const where = await at()
  await cli(['chat', ...where.flags, '--conversation', 'mine'], { input: 'one\n' })
  const chat = await cli(['chat', ...where.flags, '--conversation', 'mine.0'], { input: 'two\n' })
  expect([chat.code, chat.err]).toEqual([
    2,
    expect.stringContaining('mine.0 is a run and not a conversation'),
  ])
  const resume = await cli(['resume', 'mine', ...where.flags])
  expect([resume.code, resume.err]).toEqual([
    2,
    expect.stringContaining('mine is a conversation and not a run'),
  ])
})

test('--cross-run-cursor goes on from the memory of the provider, and sends only what is new', async () => {
  const provider = await echoing()
  const { flags, store } = place(provider)
  const talk = [...flags, '--conversation', 'mine', '--cross-run-cursor']
  await cli(['chat', ...talk], { input: 'one\ntwo\n' })
  const [first, second] = provider.requests.map(({ body }) => body)
  expect(first).not.toHaveProperty('previous_response_id')
  expect(second).toMatchObject({ previous_response_id: expect.any(String) })
  const opened = openStore(store)
  const types = [...opened.read('mine')].map(({ type }) => type)
  opened.close()
  expect(types).toContain('cursor_updated')
})

test('a provider that refuses earlier calls is told of them in words, and only how that ended counts', async () => {
  const provider = await echoing({ refusesCalls: true })
  const where = place(provider)
  const module = `import own from './agent.ts'
export default { ...own, models: own.models.map((model) => ({ ...model, nativeToolHistory: true })) }`
  writeFileSync(join(where.folder, 'native.ts'), module)
  const flags = ['--agent', join(where.folder, 'native.ts'), '--store', where.store]
  const { code, out, err } = await cli(['chat', ...flags], { input: 'launch it\nhello\n' })
  expect([code, out]).toEqual([0, expect.stringMatching(/^It is launched\.\nI know \d: hello\.\n$/u)])
  expect(err).toContain(
    'the provider does not take earlier calls as they were: it is told of them in words\n',
  )
  expect(err).not.toMatch(/^loopchart: /mu)
})
