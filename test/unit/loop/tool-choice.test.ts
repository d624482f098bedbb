import { expect, test } from 'vitest'

import {
  parseToolChoice,
  toolChoiceFor,
  toolChoicePolicy,
  type ToolChoice,
} from '../../../src/loop/tool-choice.ts'
import { refusalOf } from './refusal-of.ts'

const add = { type: 'function', name: 'add' } as const

test.each([
  [undefined, 'auto'],
  [null, 'auto'],
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'required'],
  [add, add],
  [
    { type: 'allowed_tools', mode: 'required', tools: [add, add] },
    { type: 'allowed_tools', mode: 'required', tools: [add] },
  ],
  [
    { type: 'allowed_tools', tools: [add] },
    { type: 'allowed_tools', mode: 'auto', tools: [add] },
  ],
  [{ type: 'allowed_tools', tools: [] }, 'none'],
  [{ type: 'allowed_tools', mode: 'none', tools: [add] }, 'none'],
])('K5: the choice %j is read as %j', (given, read) => {
  expect(parseToolChoice(given, ['add'])).toEqual({ toolChoice: read, warnings: [] })
})

test('N14: the nested shape of chat completions is understood, with a warning', () => {
  const nested = { type: 'function', function: { name: 'add' } }
  const { toolChoice, warnings } = parseToolChoice(nested, null)
  expect(toolChoice).toEqual(add)
  expect(warnings).toEqual([expect.stringContaining('toolChoice: the nested form')])
  const within = parseToolChoice({ type: 'allowed_tools', tools: [nested] }, null)
  expect(within.toolChoice).toEqual({ type: 'allowed_tools', mode: 'auto', tools: [add] })
  expect(within.warnings).toEqual([expect.stringContaining('toolChoice.tools[0]: the nested form')])
})

test.each([
  ['any', 'toolChoice must be auto, none, required or an object'],
  [5, 'toolChoice must be auto, none, required or an object'],
  [{ type: 'tool', name: 'add' }, 'toolChoice.type must have the type function or allowed_tools'],
  [{ type: 'function' }, 'toolChoice.name must be the name of a tool'],
  [{ type: 'function', function: {} }, 'toolChoice.name must be the name of a tool'],
  [{ type: 'function', name: 'sub' }, 'toolChoice.name names a tool that is not there: "sub"'],
  [{ type: 'allowed_tools', tools: 'add' }, 'toolChoice.tools must be a list of tools'],
  [{ type: 'allowed_tools', tools: ['add'] }, 'toolChoice.tools[0] must be of type function'],
  [
    { type: 'allowed_tools', tools: [add, { type: 'function', name: 'sub' }] },
    'toolChoice.tools[1].name names a tool that is not there: "sub"',
  ],
  [{ type: 'allowed_tools', mode: 'any', tools: [add] }, 'toolChoice.mode must be auto, none or required'],
  [
    { type: 'allowed_tools', tools: Array.from({ length: 129 }, () => add) },
    'toolChoice.tools must have at most 128 tools',
  ],
])('the choice %j is refused by its field', (given, message) => {
  expect(refusalOf(() => parseToolChoice(given, ['add']))).toBe(`agent_invalid: ${message}`)
})

const narrowed: ToolChoice = { type: 'allowed_tools', mode: 'required', tools: [add] }

test.each<readonly [ToolChoice, ToolChoice]>([
  ['required', 'auto'],
  [add, 'auto'],
  [narrowed, { type: 'allowed_tools', mode: 'auto', tools: [add] }],
  ['none', 'none'],
  ['auto', 'auto'],
])('K7: once followed, the choice %j is %j', (choice, later) => {
  const before = { kind: 'initial', isChoiceSatisfied: false } as const
  const after = { kind: 'follow_up', isChoiceSatisfied: true } as const
  expect(toolChoiceFor(choice, false, before)).toEqual(choice)
  expect(toolChoiceFor(choice, false, { ...before, kind: 'follow_up' })).toEqual(choice)
  expect(toolChoiceFor(choice, false, after)).toEqual(later)
  expect(toolChoiceFor(choice, true, after)).toEqual(choice)
  expect(toolChoiceFor(choice, true, { ...after, kind: 'wrap_up' })).toBe('none')
})

test('X4: a choice says which calls may run', () => {
  expect(toolChoicePolicy('auto')).toEqual({ mode: 'auto', allowed: null })
  expect(toolChoicePolicy('none')).toEqual({ mode: 'none', allowed: null })
  expect(toolChoicePolicy(add)).toEqual({ mode: 'required', allowed: ['add'] })
  expect(toolChoicePolicy(narrowed)).toEqual({ mode: 'required', allowed: ['add'] })
})
