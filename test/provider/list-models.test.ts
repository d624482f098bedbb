import { expect, test } from 'vitest'

import { listModels } from '../../src/provider/list-models.ts'
import { ManualClock } from '../manual-clock.ts'
import { closedPort, errorBody, fakeProvider, jsonAnswer, KEY, refuses, until } from './fake-provider.ts'

test('the models of an endpoint are listed by id', async () => {
  const provider = await fakeProvider(
    jsonAnswer({
      object: 'list',
      data: [{ id: 'b', owned_by: 'me' }, { id: 'a' }, { id: 7 }, null, 'x', { id: '' }],
    }),
  )
  expect(await listModels({ baseUrl: provider.baseUrl, apiKey: KEY })).toEqual([
    { id: 'a', ownedBy: null },
    { id: 'b', ownedBy: 'me' },
  ])
  const [seen] = provider.seen
  expect([seen?.method, seen?.url, seen?.body]).toEqual(['GET', '/v1/models', ''])
  expect(seen?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, accept: 'application/json' })
  expect(seen?.headers['content-type']).toBeUndefined()
})

test('an endpoint without a model has an empty list', async () => {
  const provider = await fakeProvider(jsonAnswer({ object: 'list', data: null }))
  expect(await listModels({ baseUrl: provider.baseUrl })).toEqual([])
})

test.for([
  [
    'a key that is refused',
    refuses(401, errorBody('bad key')),
    'key_refused',
    '(bad key): the key was refused',
  ],
  [
    'a page of HTML',
    refuses(200, '<p>', { 'content-type': 'text/html' }),
    'response_unreadable',
    'text/html',
  ],
  [
    'something else than a list',
    jsonAnswer({ ok: true }),
    'response_unreadable',
    'that is no list of models',
  ],
  ['text that is not JSON', refuses(200, 'OK'), 'response_unreadable', 'that is no list of models'],
  [
    'a redirect',
    refuses(302, '', { location: 'http://else.example/' }),
    'redirect_refused',
    'http://else.example',
  ],
] as const)('%s is an error with a code and with advice', async ([, answer, code, says]) => {
  const provider = await fakeProvider(answer)
  const listed = listModels({ baseUrl: provider.baseUrl, apiKey: KEY })
  await expect(listed).rejects.toMatchObject({
    name: 'LoopchartError',
    code,
    message: expect.stringContaining(says) as unknown,
  })
})

test('a list that is too large is not read to its end', async () => {
  const provider = await fakeProvider((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(`{"data":["${'x'.repeat(5000)}`)
  })
  const listed = listModels({ baseUrl: provider.baseUrl, caps: { modelsBytesMax: 1000 } })
  await expect(listed).rejects.toMatchObject({ code: 'response_too_large' })
})

test('a server that is not there is an error at once', async () => {
  const baseUrl = `http://127.0.0.1:${await closedPort()}/v1`
  await expect(listModels({ baseUrl })).rejects.toMatchObject({ code: 'connect_failed' })
})

test('a list that does not come is given up', async () => {
  const provider = await fakeProvider(() => undefined)
  const clock = new ManualClock()
  const listed = listModels({ baseUrl: provider.baseUrl, clock })
  await until(() => provider.seen.length === 1)
  clock.advance(30_000)
  await expect(listed).rejects.toMatchObject({ code: 'headers_timeout' })
  expect(clock.timersArmed).toBe(0)
})

test('an aborted signal ends a list', async () => {
  const provider = await fakeProvider(() => undefined)
  const controller = new AbortController()
  const listed = listModels({ baseUrl: provider.baseUrl, signal: controller.signal })
  await until(() => provider.seen.length === 1)
  controller.abort()
  await expect(listed).rejects.toMatchObject({ code: 'request_aborted' })
})

test('wrong options are refused before anything is sent', async () => {
  await expect(listModels({ baseUrl: 'nowhere' })).rejects.toMatchObject({ code: 'provider_invalid' })
})
