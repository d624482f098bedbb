import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi, type TestContext } from 'vitest'

import { makeFolder } from '../cli/run-cli.ts'
import { echoing, PROMPT, typeAt, type TypedCli } from './cli-chat-kit.ts'
import { place, runsIn, writeAgent, type Place } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const ASKING = "{ needsApproval: true, execute: () => 'launched' }"
const [CTRL_C, CTRL_D, UP] = ['\u0003', '\u0004', '\u001b[A']

interface Desk {
  readonly where: Place
  /** A chat of the same conversation, with what was typed in others before. */
  readonly open: () => TypedCli
  readonly state: string
}

async function desk(context: TestContext, tool?: string): Promise<Desk> {
  const where = place(await echoing(), tool)
  const state = makeFolder()
  const args = ['chat', ...where.flags, '--conversation', 'mine']
  return { where, state, open: () => typeAt(context, args, { XDG_STATE_HOME: state }) }
}

test('a message is answered at the prompt with what it used, and the end of the input leaves with how to come back', async (context) => {
  const chat = (await desk(context)).open()
  await chat.until(/conversation mine, new; \/help lists commands, Ctrl-D leaves/u)
  await chat.until(PROMPT)
  chat.type('hello\r')
  await chat.until(/I know 1: hello\.\r\n/u)
  await chat.until(/1,050 tokens \(1000 in with 800 cached, 50 out with 20 reasoning\)\r\n/u)
  await chat.until(PROMPT)
  chat.type(CTRL_D)
  await chat.until(/come back with: loopchart chat --conversation mine /u)
  expect(await chat.ended).toMatch(/code 0\r\n$/u)
})

test('a chat shows no states of the run, a command shows what it says, and an unknown one is no message', async (context) => {
  const { open, where } = await desk(context)
  const chat = open()
  await chat.until(PROMPT)
  for (const [line, answer] of [
    ['hello', /I know 1: hello/u],
    ['/state', /conversation mine: idle, 1 message, 2 entries\r\n/u],
    ['/nope', /there is no command \/nope/u],
    ['//etc', /I know 2: \/etc/u],
    ['/fork', /now in conversation \S+, which begins as mine/u],
    ['/state', /conversation (?!mine)\S+: idle, 2 messages/u],
  ] as const) {
    chat.type(`${line}\r`)
    await chat.until(answer)
    await chat.until(PROMPT)
  }
  chat.type('/quit\r')
  const shown = await chat.ended
  expect(shown).toMatch(/code 0\r\n$/u)
  expect(shown).not.toMatch(/requesting > streaming|done \(completed\)/u)
  expect(shown).not.toMatch(/come back with: loopchart chat --conversation mine /u)
  expect(runsIn(where).filter(({ kind }) => kind === 'conversation')).toHaveLength(2)
})

test('what is pasted is one message, however many lines it has', async (context) => {
  const chat = (await desk(context)).open()
  await chat.until(PROMPT)
  chat.type('see: \u001b[200~one\rtwo\r\u001b[201~')
  await chat.until(/see: one⏎two⏎/u)
  chat.type('\r')
  await chat.until(/I know 1: see: one\r\ntwo\r\n\.\r\n/u)
  await chat.until(PROMPT)
  chat.type(CTRL_D)
  expect(await chat.ended).toMatch(/code 0\r\n$/u)
})

test('Ctrl-C cancels the message under way, the chat goes on, and at the prompt it leaves with 130', async (context) => {
  const { open, where } = await desk(context)
  const chat = open()
  await chat.until(PROMPT)
  chat.type('wait\r')
  await chat.until(/Wait/u)
  chat.type(CTRL_C)
  await chat.until(/cancelled: 1 turn/u)
  await chat.until(PROMPT)
  chat.type('hello\r')
  await chat.until(/I know 2: hello/u)
  await chat.until(PROMPT)
  chat.type(CTRL_C)
  expect(await chat.ended).toMatch(/code 130\r\n$/u)
  expect(runsIn(where).map(({ state }) => state)).toEqual(expect.arrayContaining(['cancelled', 'done']))
})

test('what was typed before can be gone back to in the next chat, and only its owner can read it', async (context) => {
  const { open, state } = await desk(context)
  const first = open()
  await first.until(PROMPT)
  first.type('remember me\r')
  await first.until(/I know 1/u)
  await first.until(PROMPT)
  first.type('use sk-abcdefghijklmnopqrstuvwx\r')
  await first.until(/I know 2/u)
  await first.until(PROMPT)
  first.type(CTRL_D)
  await first.ended
  const file = join(state, 'loopchart', 'chat-history.jsonl')
  expect(readFileSync(file, 'utf8')).toBe('"remember me"\n')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const second = open()
  await second.until(/conversation mine, 2 messages/u)
  await second.until(PROMPT)
  second.type(`${UP}!\r`)
  await second.until(/I know 3: remember me!/u)
  await second.until(PROMPT)
  second.type(CTRL_D)
  await second.ended
})

test('a call is asked about as in a run, and the prompt comes back with line editing', async (context) => {
  const chat = (await desk(context, ASKING)).open()
  await chat.until(PROMPT)
  chat.type('launch it\r')
  await chat.until(/needs approval \(tool\): launch.*or say why not: /su)
  chat.type('y\r')
  await chat.until(/launch \{"where":"moon"\} -> ok/u)
  await chat.until(/It is launched/u)
  await chat.until(PROMPT)
  chat.type('/quix\u007ft\r')
  expect(await chat.ended).toMatch(/code 0\r\n$/u)
})

test('a run that was left open is asked about when one comes back, and goes on where it was', async (context) => {
  const { open } = await desk(context, ASKING)
  const first = open()
  await first.until(PROMPT)
  first.type('launch it\r')
  await first.until(/or say why not: /u)
  first.type(CTRL_D)
  expect(await first.ended).toMatch(/code 5\r\n$/u)

  const second = open()
  await second.until(
    /run mine\.0 has not ended: working\.executing\.awaitingApproval, a yes or a no for call call_7/u,
  )
  await second.until(/\[r\]esume it, \[a\]bandon it, or \[q\]uit: /u)
  second.type('what\r')
  await second.until(/or \[q\]uit: /u)
  second.type('q\r')
  expect(await second.ended).toMatch(/code 6\r\n$/u)

  const third = open()
  await third.until(/or \[q\]uit: /u)
  third.type('r\r')
  await third.until(/or say why not: /u)
  third.type('y\r')
  await third.until(/It is launched/u)
  await third.until(PROMPT)
  third.type(CTRL_D)
  expect(await third.ended).toMatch(/code 0\r\n$/u)
})

test('an open run that cannot go on with the agent of now is said so, and can still be left for good', async (context) => {
  const provider = await echoing()
  const where = place(provider, ASKING)
  const args = (agent: string): readonly string[] => ['chat', '--agent', agent, '--store', where.store]
  const first = typeAt(context, [...args(where.flags[1] ?? ''), '--conversation', 'mine'])
  await first.until(PROMPT)
  first.type('launch it\r')
  await first.until(/or say why not: /u)
  first.type(CTRL_D)
  await first.ended
  const other = writeAgent(where.folder, 'other.ts', provider, "{ name: 'land', execute: () => 1 }")
  const second = typeAt(context, [...args(other), '--conversation', 'mine'])
  await second.until(/or \[q\]uit: /u)
  second.type('r\r')
  await second.until(/loopchart: run mine\.0 cannot go on: .*\[resume_refused\]/u)
  await second.until(/or \[q\]uit: /u)
  second.type('a\r')
  await second.until(PROMPT)
  second.type('/quit\r')
  expect(await second.ended).toMatch(/code 0\r\n$/u)
})

test('a run that is abandoned does not run its call, and the next message is taken', async (context) => {
  const { open, where } = await desk(
    context,
    "{ needsApproval: true, execute: () => { did('ran'); return 1 } }",
  )
  const first = open()
  await first.until(PROMPT)
  first.type('launch it\r')
  await first.until(/or say why not: /u)
  first.type(CTRL_D)
  await first.ended
  const second = open()
  await second.until(/or \[q\]uit: /u)
  second.type('a\r')
  await second.until(PROMPT)
  second.type('hello\r')
  await second.until(/I know \d: hello/u)
  await second.until(PROMPT)
  second.type(CTRL_D)
  expect(await second.ended).toMatch(/code 0\r\n$/u)
  expect(() => readFileSync(join(where.folder, 'effects.txt'))).toThrow('ENOENT')
})

test('a second Ctrl-C leaves at once, also while a call does not let itself be stopped', async (context) => {
  const chat = (
    await desk(context, '{ execute: () => new Promise((done) => setTimeout(done, 60_000)) }')
  ).open()
  await chat.until(PROMPT)
  chat.type('launch it\r')
  await chat.untilStatus(/executing\.running launch\]/u)
  chat.type(CTRL_C)
  await chat.untilStatus(/\[stopping/u)
  chat.type(CTRL_C)
  const shown = await chat.ended
  expect(shown).toMatch(/code 130\r\n$/u)
  expect(shown.match(/\[\?2004h/gu)).toHaveLength(1)
})

test('no sign of a model that turns text around reaches the terminal', async (context) => {
  const chat = (await desk(context)).open()
  await chat.until(PROMPT)
  // The provider says again what it was told.
  chat.type('a \u202e\u2066 b\r')
  const shown = await chat.until(/I know 1: a \S+ b/u)
  expect(shown).toBe('I know 1: a ⟦U+202E⟧⟦U+2066⟧ b')
  await chat.until(PROMPT)
  chat.type(CTRL_D)
  await chat.ended
})
