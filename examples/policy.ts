import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent, run } from 'loopchart'
import { assistantMessage, functionCall, scriptedModel } from 'loopchart/testing'
import { builtinTools, type PolicyRule } from 'loopchart/tools'

const workspace = mkdtempSync(join(tmpdir(), 'shop-'))
const stateFolder = mkdtempSync(join(tmpdir(), 'state-'))
mkdirSync(join(workspace, 'src'))
writeFileSync(join(workspace, 'customers.csv'), 'Ada,7\n')

const policy: readonly PolicyRule[] = [
  { decision: 'allow', tool: 'write_file', path: 'src/**' },
  { decision: 'deny', tool: 'write_file', path: 'src/generated/**' },
  { decision: 'ask', tool: 'read_file', path: '*.csv' },
  { decision: 'allow', tool: 'shell', argv: ['npm', 'test'] },
  { decision: 'deny', tool: 'shell', argv: ['npm', 'publish'] },
]
const model = scriptedModel([
  functionCall('write_file', { path: 'src/a.ts', content: 'export {}\n' }),
  functionCall('write_file', { path: 'src/generated/a.ts', content: '' }),
  functionCall('write_file', { path: 'README.md', content: '# Shop\n' }),
  functionCall('write_file', { path: 'src/.env', content: 'KEY=1\n' }),
  functionCall('read_file', { path: 'customers.csv' }),
  functionCall('shell', { argv: ['npm', 'publish'] }),
  assistantMessage('That is all.'),
])
const tools = await builtinTools({ workspace, stateFolder })
const live = run(agent({ model, tools, policy }), 'tidy up')
for await (const frame of live) {
  if (frame.type !== 'approval_requested') continue
  console.log(`asked (${frame.reason}): ${frame.shown.split('\n')[0]}`)
  await live.deny(frame.path, 'not now')
}
for (const { name, outcome } of (await live.result).calls) console.log(name, outcome)

for (const folder of [workspace, stateFolder]) rmSync(folder, { recursive: true })
