import { expect, test } from 'vitest'

import { formatRoute, parseOpening, parseRoute, type Route } from '../../src/inspect/page/route.ts'
import { NO_FILTER } from '../../src/inspect/page/run-filter.ts'

test.each<Route>([
  { view: 'runs', filter: NO_FILTER },
  {
    view: 'runs',
    filter: { text: 'a&b=c?#', state: 'working.backingOff', status: 'running', needsPerson: true },
  },
  { view: 'run', runId: 'run_1', at: null, panel: null },
  { view: 'run', runId: '../a b/%2e?x#y', at: 0, panel: 'calls' },
  { view: 'run', runId: 'grün', at: 104_634, panel: null },
])('an address leads back to what it was made of: %j', (route) => {
  expect(parseRoute(formatRoute(route))).toEqual(route)
})

test('the address of a run and a frame is the one that is promised', () => {
  expect(formatRoute({ view: 'run', runId: 'ID', at: 17, panel: null })).toBe('#/runs/ID?at=17')
})

test.each(['', '#', '#/', '#/nothing', '#/runs', '#/runs/', '#/runs/a/b', '#?at=3'])(
  'the address %j is the list of runs',
  (address) => {
    expect(parseRoute(address)).toEqual({ view: 'runs', filter: NO_FILTER })
  },
)

test.each(['-1', '1.5', 'x', '1e3', '', '9'.repeat(30)])('%j is no frame to stop at', (at) => {
  expect(parseRoute(`#/runs/r?at=${at}`)).toMatchObject({ runId: 'r', at: null })
})

test('an id that is not well encoded is taken as it stands', () => {
  expect(parseRoute('#/runs/%E0%A4%A')).toMatchObject({ runId: '%E0%A4%A' })
})

test('fault S14: a token in the fragment is taken out of what becomes the address', () => {
  const { token, route } = parseOpening('#token=secret-secret-secret&run=run_1')
  expect(token).toBe('secret-secret-secret')
  expect(formatRoute(route)).toBe('#/runs/run_1')
})

test('a page may be opened with a token alone, with a run alone, or with an address', () => {
  expect(parseOpening('#token=T')).toEqual({ token: 'T', route: { view: 'runs', filter: NO_FILTER } })
  expect(parseOpening('#run=r&at=3')).toEqual({
    token: null,
    route: { view: 'run', runId: 'r', at: 3, panel: null },
  })
  expect(parseOpening('#/runs/r?at=3')).toEqual(parseOpening('#run=r&at=3'))
})

test('an address never has a token, also when somebody writes one into it', () => {
  const { token, route } = parseOpening('#/runs/r?at=3&token=T')
  expect(token).toBeNull()
  expect(formatRoute(route)).toBe('#/runs/r?at=3')
})
