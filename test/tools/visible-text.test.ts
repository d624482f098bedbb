import { expect, test } from 'vitest'

import { bindTools } from '../../src/tools/bind-tools.ts'
import { tool } from '../../src/tools/tool.ts'
import { visibleText } from '../../src/tools/visible-text.ts'

test.for([
  ['line feeds and tabs stay', 'a\n\tb', 'a\n\tb'],
  ['carriage returns', 'a\r\nb\rc', String.raw`a\r` + '\n' + String.raw`b\rc`],
  ['controls of both kinds', '\u0000\u001b[2J\u007f\u009b', String.raw`\u0000\u001b[2J\u007f\u009b`],
  ['marks of direction', '\u202e\u2066', '⟦U+202E⟧⟦U+2066⟧'],
  ['separators of lines', '\u2028\u2029', '⟦U+2028⟧⟦U+2029⟧'],
  ['what takes no place', 'a\u200bb\ufeff\u3164', 'a⟦U+200B⟧b⟦U+FEFF⟧⟦U+3164⟧'],
  ['tags and half a pair', '\u{e0041}\ud800', '⟦U+E0041⟧⟦U+D800⟧'],
  ['letters and signs of any script', 'grüße 漢字 😀 é', 'grüße 漢字 😀 é'],
] as const)('a person sees what is there: %s', ([, text, shown]) => {
  expect(visibleText(text)).toBe(shown)
  expect(visibleText(shown)).toBe(shown)
})

test.for([
  ['its own preview', () => 'send \u202e\u001b[2J', String.raw`send ⟦U+202E⟧\u001b[2J`],
  ['its name and arguments', undefined, 'probe {"text":"⟦U+202E⟧"}'],
] as const)('the question about any tool is made visible: %s', async ([, preview, shown]) => {
  const probe = tool({
    name: 'probe',
    description: 'Try something.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    ...(preview === undefined ? {} : { preview }),
    execute: () => 'ran',
  })
  const call = { callId: 'c', name: 'probe', arguments: '{"text":"\u202e"}' }
  expect((await bindTools([probe]).appraise(call)).approval?.shown).toBe(shown)
})
