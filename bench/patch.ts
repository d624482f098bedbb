import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { applyPatchTool } from '../src/tools/builtin/apply-patch.ts'
import { openWorkspace } from '../src/tools/workspace/workspace.ts'
import { median } from './measure.ts'
import type { Figure } from './decode.ts'

const ROUNDS = 200
const LINES = 100

/** What a patch of one hunk on a small file takes, with everything that the tool does around it. */
export async function patchFigure(): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-bench-patch-'))
  try {
    const lines = Array.from({ length: LINES }, (_, at) => `line ${at}`)
    writeFileSync(join(folder, 'small.txt'), `${lines.join('\n')}\n`)
    const workspace = await openWorkspace(folder)
    const tool = applyPatchTool({ workspace, stateFolder: `${folder}-state`, isAutoEdit: true })
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const patch = ['*** Begin Patch', '*** Update File: small.txt', '@@', ...hunk(round), '*** End Patch']
      const from = performance.now()
      const prepared = await tool.prepare({ patch: patch.join('\n') })
      if (!prepared.ok) throw new Error(prepared.message)
      await prepared.call.execute({
        signal: new AbortController().signal,
        callId: 'call_1',
        key: `bench/1/${round}`,
        onOutput: () => undefined,
        runAgent: () => Promise.reject(new Error('there are no agents here')),
      })
      times.push((performance.now() - from) * 1000)
    }
    return {
      id: 'workspace_apply_patch_us',
      value: median(times),
      unit: 'us',
      budget: 2000,
      about: `median of ${ROUNDS} patches of one hunk on a file of ${LINES} lines, its record included`,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(`${folder}-state`, { recursive: true, force: true })
  }
}

function hunk(round: number): readonly string[] {
  const before = round === 0 ? 'line 50' : `changed ${round - 1}`
  return [' line 48', ' line 49', `-${before}`, `+changed ${round}`, ' line 51', ' line 52']
}
