import { expect, test } from 'vitest'

import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { ADD, FIVE, HELLO, post, postJson, provide, refusal, textOf } from './scripted-kit.ts'

const USER = { type: 'message', role: 'user', content: 'add' }
const ANSWER = { type: 'function_call_output', call_id: 'call_x', output: '5' }
const CALL = { type: 'function_call', call_id: 'call_x', name: 'add', arguments: '{}' }
const OTHER = { ...CALL, call_id: 'call_z' }
const OTHER_ANSWER = { ...ANSWER, call_id: 'call_z' }
const SAID = { type: 'message', role: 'assistant', content: 'It is 5.' }

function lost(id: unknown): object {
  return {
    status: 400,
    message: `Previous response with id '${String(id)}' not found.`,
    code: 'previous_response_not_found',
  }
}

test('a provider that forgets refuses to continue, and goes on when all of it is sent', async () => {
  const provider = await provide([ADD, FIVE, HELLO])
  const { id, output } = await postJson(provider, { input: 'add' })
  provider.forget()
  const byId = await post(provider, { input: [ANSWER], previous_response_id: id })
  expect(((await byId.clone().json()) as { error: object }).error).toMatchObject({
    param: 'previous_response_id',
  })
  expect(await refusal(byId)).toEqual(lost(id))
  const second = await postJson(provider, { input: [USER, ...(output as object[]), ANSWER] })
  expect(textOf(second)).toBe('It is 5.')
  const third = await postJson(provider, { input: 'and?', previous_response_id: second['id'] })
  expect(textOf(third)).toBe('Hello there.')
})

test('a turn that forgets loses itself and all before it, and nothing after it', async () => {
  const provider = await provide([HELLO, { ...FIVE, forgets: true }, HELLO, FIVE])
  const first = await postJson(provider, { input: 'hi' })
  const second = await postJson(provider, { input: 'two', previous_response_id: first['id'] })
  expect(textOf(second)).toBe('It is 5.')
  for (const { id } of [first, second]) {
    const refused = await post(provider, { input: 'x', previous_response_id: id })
    expect(await refusal(refused)).toEqual(lost(id))
  }
  const whole = [USER, ...(second['output'] as object[]), USER]
  const third = await postJson(provider, { input: whole })
  const fourth = await postJson(provider, { input: 'four', previous_response_id: third['id'] })
  expect([third, fourth].map(textOf)).toEqual(['Hello there.', 'It is 5.'])
})

test('what is forgotten can be sent again, but not by its name alone', async () => {
  const bare: ScriptTurn = {
    output: [
      { type: 'reasoning', summary: 'Hm.' },
      { type: 'message', text: 'yes' },
    ],
  }
  const provider = await provide([bare, HELLO])
  const [thought, said] = (await postJson(provider, { input: 'a' }))['output'] as { id: string }[]
  const named = [USER, { type: 'item_reference', id: said?.id }, USER]
  const bareThought = [USER, thought, said, USER]
  for (const input of [named, bareThought]) expect((await post(provider, { input })).status).toBe(200)
  provider.forget()
  expect((await refusal(await post(provider, { input: named }))).message).toContain('not found.')
  expect((await refusal(await post(provider, { input: bareThought }))).message).toBe(
    `Item with id '${thought?.id}' not found.`,
  )
  const withContent = [USER, { ...thought, encrypted_content: 'b3BhcXVl' }, said, USER]
  for (const input of [withContent, [USER, said, USER]]) {
    expect((await post(provider, { input })).status).toBe(200)
  }
})

const REFUSED = {
  message: 'Invalid input',
  type: 'invalid_request_error',
  param: 'input',
  code: 'invalid_input',
}

test('a provider that refuses calls takes only those that its own run sends back', async () => {
  const script = { v: 1, turns: [ADD, FIVE, HELLO], refuses_calls: true } as const
  const fromFile = await startScriptedProvider(script)
  const fromOption = await provide((_, turn) => script.turns[turn - 1] ?? HELLO, { refusesCalls: true })
  for (const provider of [fromFile, fromOption]) {
    const earlier = await post(provider, { input: [USER, CALL, ANSWER, SAID, USER] })
    expect([earlier.status, await earlier.json()]).toEqual([400, { error: REFUSED }])
    const { id, output } = await postJson(provider, { input: [USER] })
    const whole = { input: [USER, ...(output as object[]), ANSWER] }
    const chain = { input: [ANSWER], previous_response_id: id }
    const more = { input: [ANSWER, OTHER, OTHER_ANSWER, USER], previous_response_id: id }
    for (const followUp of [whole, chain, more])
      expect(textOf(await postJson(provider, followUp))).toBe('It is 5.')
    const inWords = { input: [USER, SAID, USER] }
    expect((await post(provider, inWords)).status).toBe(200)
  }
  await fromFile.close()
})

test('a provider takes calls unless it is told not to', async () => {
  const provider = await provide([HELLO])
  expect((await post(provider, { input: [USER, CALL, ANSWER, SAID, USER] })).status).toBe(200)
})
