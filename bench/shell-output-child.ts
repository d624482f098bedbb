// A process of its own, so that nothing else counts. Runs the command it is given and prints what that added, as JSON.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { shellTool } from '../src/tools/builtin/shell.ts'
import { openArtifacts } from '../src/tools/artifacts/artifact-store.ts'
import { createRegistry } from '../src/tools/registry.ts'
import { runCall } from '../src/tools/run-call.ts'
import { openWorkspace } from '../src/tools/workspace/workspace.ts'
import { systemClock } from '../src/clock.ts'

const [, , command = ''] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'loopchart-shell-output-'))
const workspace = await openWorkspace(folder)
const stateFolder = mkdtempSync(join(tmpdir(), 'loopchart-shell-state-'))
const artifacts = openArtifacts(join(stateFolder, 'artifacts'))
const shell = await shellTool({ workspace, artifacts, stateFolder, shell: { sandbox: 'off' } })
const host = {
  registry: createRegistry([shell]),
  policy: { mode: 'auto', allowed: null } as const,
  clock: systemClock,
}

async function runShell(text: string): Promise<unknown> {
  const call = { callId: 'call_1', key: 'k', name: 'shell', arguments: JSON.stringify({ command: text }) }
  const signal = new AbortController().signal
  const result = await runCall(
    host,
    { ...call, timeoutMs: shell.timeoutMs },
    { signal, onOutput: () => undefined },
  )
  return result.artifacts[0]
}

// What a first command loads and compiles is not what output costs.
await runShell('echo first')
globalThis.gc?.()
const beforeKib = readStatus('VmRSS')
const stdout = await runShell(command)
const peakKib = readStatus('VmHWM')
rmSync(folder, { recursive: true, force: true })
rmSync(stateFolder, { recursive: true, force: true })
process.stdout.write(`${JSON.stringify({ stdout, riseMiB: (peakKib - beforeKib) / 1024 })}\n`)

function readStatus(field: string): number {
  const line = new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(line?.[1])
}
