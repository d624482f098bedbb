import { expect, test } from 'vitest'

import { chartLayout } from '../../src/chart/generated/chart-layout.ts'
import {
  between,
  ownMode,
  viewBoxText,
  viewOfState,
  wholeView,
  zoomed,
} from '../../src/inspect/page/chart-camera.ts'
import { stateTone } from '../../src/inspect/page/state-tone.ts'

const VIEWPORT = { width: 500, height: 620 }

test('the whole chart is in the whole view, in the shape of the viewport', () => {
  const view = wholeView(chartLayout, VIEWPORT)
  expect(view.x).toBeLessThanOrEqual(0)
  expect(view.y).toBeLessThanOrEqual(0)
  expect(view.x + view.width).toBeGreaterThanOrEqual(chartLayout.width)
  expect(view.y + view.height).toBeGreaterThanOrEqual(chartLayout.height)
  expect(view.width / view.height).toBeCloseTo(VIEWPORT.width / VIEWPORT.height)
})

test('a state that is followed is seen whole, wherever it is', () => {
  for (const state of chartLayout.states.filter(({ kind }) => kind !== 'compound')) {
    const view = viewOfState(chartLayout, state, VIEWPORT)
    expect(view.x).toBeLessThanOrEqual(state.x)
    expect(view.y).toBeLessThanOrEqual(state.y)
    expect(view.x + view.width).toBeGreaterThanOrEqual(state.x + state.width)
    expect(view.y + view.height).toBeGreaterThanOrEqual(state.y + state.height)
  }
})

test('the point under the pointer stays where it is while one zooms', () => {
  const view = viewOfState(chartLayout, { x: 500, y: 500, width: 10, height: 10 }, VIEWPORT)
  const about = { x: view.x + view.width / 4, y: view.y + view.height / 3 }
  const next = zoomed(view, 1.5, VIEWPORT, chartLayout, about)
  expect((about.x - next.x) / next.width).toBeCloseTo(1 / 4)
  expect((about.y - next.y) / next.height).toBeCloseTo(1 / 3)
  expect(next.width).toBeCloseTo(view.width / 1.5)
})

test('nobody zooms out of the chart or into a single letter', () => {
  const view = viewOfState(chartLayout, { x: 500, y: 500, width: 10, height: 10 }, VIEWPORT)
  expect(zoomed(view, 1e-9, VIEWPORT, chartLayout).width).toBeCloseTo(wholeView(chartLayout, VIEWPORT).width)
  expect(zoomed(view, 1e9, VIEWPORT, chartLayout).width).toBeCloseTo(VIEWPORT.width / 2.5)
})

test('a way begins where it begins and ends where it ends', () => {
  const from = { x: 0, y: 10, width: 100, height: 50 }
  const to = { x: 40, y: 0, width: 20, height: 10 }
  expect(between(from, to, 0)).toEqual(from)
  expect(between(from, to, 1)).toEqual(to)
  expect(viewBoxText(between(from, to, 0.5))).toBe('20 5 60 30')
})

test.each([
  ['working.responding.streaming', 'model'],
  ['working.executing.running', 'call'],
  ['working.executing.awaitingApproval', 'wait'],
  ['working.assembling', 'step'],
  ['done', 'good'],
  ['failed', 'bad'],
  ['limitExceeded', 'bad'],
  ['cancelled', 'stop'],
  ['a state of tomorrow', 'step'],
])('%s is shown as %s', (state, tone) => {
  expect(stateTone(state)).toBe(tone)
})

test('where the whole chart would be too small to be read, the active state is followed', () => {
  expect(ownMode(chartLayout, { width: 512, height: 630 })).toBe('whole')
  expect(ownMode(chartLayout, { width: 390, height: 560 })).toBe('whole')
  expect(ownMode(chartLayout, { width: 640, height: 150 })).toBe('follow')
})

test('the whole chart begins below the buttons at the top', () => {
  const view = wholeView(chartLayout, { width: 900, height: 400 })
  expect((-view.y * 400) / view.height).toBeGreaterThan(40)
})
