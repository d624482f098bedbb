// Applies a patch and kills itself: after so many changes of files, or with `end` when the patch has been applied.
import { readFileSync } from 'node:fs'

import { applyPatch } from '../../../src/tools/patch/apply-patch.ts'
import { parsePatch } from '../../../src/tools/patch/parse-patch.ts'
import { PatchRecords } from '../../../src/tools/patch/patch-records.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'

const [root = '', records = '', patchFile = '', key = '', killAt = ''] = process.argv.slice(2)

const workspace = await openWorkspace(root)
let changes = 0

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

async function counted(change: () => Promise<void>): Promise<void> {
  if (killAt === '0') await die()
  await change()
  changes += 1
  if (String(changes) === killAt) await die()
}

const replaceFile = workspace.replaceFile.bind(workspace)
const removeFile = workspace.removeFile.bind(workspace)
workspace.replaceFile = (...given) => counted(() => replaceFile(...given))
workspace.removeFile = (...given) => counted(() => removeFile(...given))

const patch = parsePatch(readFileSync(patchFile, 'utf8'))
const { signal } = new AbortController()
await applyPatch({ workspace, records: new PatchRecords(records) }, patch, { key, signal })
if (killAt === 'end') await die()
