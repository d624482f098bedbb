import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent, run } from 'loopchart'
import { assistantMessage, functionCall, scriptedModel } from 'loopchart/testing'
import { builtinTools } from 'loopchart/tools'

const workspace = mkdtempSync(join(tmpdir(), 'shop-'))
const stateFolder = mkdtempSync(join(tmpdir(), 'state-'))
writeFileSync(join(workspace, 'price.ts'), 'export const price = 3\n')

const patch = `*** Begin Patch
*** Update File: price.ts
@@
-export const price = 3
+export const price = 4
*** Add File: CHANGES.md
+- The price is 4.
*** End Patch
`
const model = scriptedModel([
  functionCall('read_file', { path: 'price.ts' }),
  functionCall('apply_patch', { patch }),
  functionCall('read_file', { path: '.env' }),
  functionCall('read_file', { path: '../shop.env' }),
  assistantMessage('The price is 4 now.'),
])
const tools = await builtinTools({ workspace, stateFolder })
console.log(tools.map(({ name, aliases }) => [name, ...aliases].join('/')).join(' '))

const live = run(agent({ model, tools }), 'raise the price to 4')
for await (const frame of live) {
  if (frame.type === 'approval_requested') {
    console.log(`asked (${frame.reason}, each time: ${frame.each_time})\n${frame.shown.trimEnd()}`)
    if (frame.reason === 'write') await live.approve(frame.path, { argumentsHash: frame.arguments_hash })
    else await live.deny(frame.path, 'keys are not for you')
  }
  if (frame.type === 'tool_failed') console.log('failed:', frame.error?.code, frame.error?.message)
}
const { calls, text } = await live.result
console.log(calls.map(({ name, outcome }) => `${name} ${outcome}`))
console.log(text, readFileSync(join(workspace, 'price.ts'), 'utf8').trim())

for (const folder of [workspace, stateFolder]) rmSync(folder, { recursive: true })
