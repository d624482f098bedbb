import { readFileSync } from 'node:fs'

import { createMachine } from 'xstate'
import { expect, test } from 'vitest'

import { loopMachine } from '../../../machines/loop.machine.ts'
import { chartScxml } from '../../../src/chart/chart-scxml.ts'
import { chartSvg } from '../../../src/chart/chart-svg.ts'
import { chartLayout } from '../../../src/chart/generated/chart-layout.ts'
import { listStates, listTransitions } from '../../../src/chart/list-transitions.ts'
import { xmlElements } from './xml-elements.ts'

const svg = chartSvg(chartLayout)
const scxml = chartScxml(loopMachine)

test('docs/loop.svg is what scripts/diagram.ts would write now', () => {
  expect(readFileSync(new URL('../../../docs/loop.svg', import.meta.url), 'utf8')).toBe(svg)
})

test('the SVG is well-formed and holds every state and the text of every transition', () => {
  const elements = xmlElements(svg)
  const drawn = elements.flatMap(({ attributes }) => attributes['data-state'] ?? [])
  expect(drawn).toEqual(chartLayout.states.map(({ id }) => id))
  const said = elements.flatMap(({ attributes }) => attributes['data-transition'] ?? [])
  expect(said).toEqual(chartLayout.transitions.flatMap(({ id, text }) => (text === '' ? [] : [id])))
  for (const { guard } of chartLayout.transitions) expect(svg).toContain(guard === null ? '' : `>[${guard}]<`)
})

test('the SVG draws one line for all transitions between the same two states', () => {
  const routes = new Set(
    chartLayout.transitions.flatMap(({ points }) => (points.length === 0 ? [] : [JSON.stringify(points)])),
  )
  const lines = xmlElements(svg).filter(({ attributes }) => attributes.class === 'edge')
  expect(lines).toHaveLength(routes.size)
})

test('the SVG marks final states with a second line and the way in with a dot', () => {
  const finals = svg.split('\n').filter((line) => line.startsWith('<g class="state final"'))
  expect(finals.map((line) => line.split('<rect').length - 1)).toEqual([2, 2, 2, 2])
  expect(svg.match(/<circle class="dot"/gu)).toHaveLength(4)
})

test('the SVG says what it is to a screen reader, has a dark form, and loads nothing', () => {
  const [root] = xmlElements(svg)
  expect(root?.attributes).toMatchObject({ role: 'img', 'aria-labelledby': 'chart-title chart-desc' })
  expect(svg).toMatch(
    /<title id="chart-title">[^<]+<\/title>\n<desc id="chart-desc">[^<]+working\.backingOff/u,
  )
  expect(svg).toContain('@media (prefers-color-scheme:dark)')
  expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(
    /https?:|@import|href|url\([^#]|<script|<image/u,
  )
})

test('words in the SVG are text, whatever they are', () => {
  const title = '<script>alert("1 & 2")</script>'
  const wild = chartSvg(chartLayout, { title, description: title })
  expect(xmlElements(wild).map(({ name }) => name)).not.toContain('script')
  expect(wild).toContain('>&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;</title>')
})

test('the SCXML is well-formed and holds every state and every transition', () => {
  const elements = xmlElements(scxml)
  const inner = listStates(loopMachine).slice(1)
  const states = elements.filter(({ name }) => name === 'state' || name === 'final')
  expect(states.map(({ attributes }) => attributes.id)).toEqual(inner.map(({ path }) => path.join('.')))
  expect(states.filter(({ name }) => name === 'final')).toHaveLength(4)
  const ways = listTransitions(loopMachine)
  const drawn = elements.filter(({ name }) => name === 'transition').map(({ attributes }) => attributes)
  expect(drawn.map(({ cond = null, target = '' }) => `${cond} ${target}`).sort()).toEqual(
    ways
      .filter(({ event }) => event !== 'initial')
      .map(({ guard, targets }) => `${guard} ${targets.join(' ')}`)
      .sort(),
  )
  const initial = elements.flatMap(({ attributes }) => attributes.initial ?? [])
  expect(initial).toEqual(ways.flatMap(({ event, targets }) => (event === 'initial' ? targets : [])))
})

test('the SCXML names the ends of effects as the specification does, and every action', () => {
  expect(scxml).toContain('<transition event="done.invoke.tool.*" cond="isRunning"')
  expect(scxml).toContain('<transition event="error.platform.*" target="stopping"')
  expect(scxml).not.toContain('xstate.')
  const actions = listTransitions(loopMachine).flatMap(({ actions: names }) => names)
  for (const name of actions) expect(scxml).toContain(`<loopchart:action name="${name}"/>`)
  expect(scxml).toMatch(/<onentry>\n\s+<loopchart:action name="startBatch"\/>\n\s+<\/onentry>/u)
})

test('the SCXML of another chart has its exits, its ways inward and its odd names', () => {
  const text = chartScxml(
    createMachine({
      id: 'odd',
      initial: 'a',
      states: { a: { exit: 'leave', initial: 'b', on: { '<&">': '.b' }, states: { b: {} } } },
    }),
  )
  expect(xmlElements(text)).toContainEqual({
    name: 'transition',
    attributes: { event: '&lt;&amp;&quot;&gt;', target: 'a.b', type: 'internal' },
  })
  expect(text).toContain('<onexit>\n      <loopchart:action name="leave"/>')
})
