import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { onTestFinished, type TestContext } from 'vitest'

import { LoopchartError } from '../../../src/errors.ts'
import type { JsonObject } from '../../../src/protocol/json.ts'
import { openArtifacts } from '../../../src/tools/artifacts/artifact-store.ts'
import { grepTool } from '../../../src/tools/builtin/grep.ts'
import { findRipgrep } from '../../../src/tools/search/find-ripgrep.ts'
import type { SearchEngine } from '../../../src/tools/search/search.ts'
import type { ToolResult } from '../../../src/tools/tool-result.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { need } from '../../need.ts'

export type Tree = Readonly<Record<string, string | Uint8Array>>

/** A fresh folder that is gone after the test, as is the one for artifacts beside it. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-search-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
    rmSync(`${folder}-artifacts`, { recursive: true, force: true })
  })
  return folder
}

/** The ripgrep of this machine; a test that cannot do without is skipped, or fails where all must run. */
export async function needRipgrep(context: Pick<TestContext, 'skip'>): Promise<string> {
  const program = await findRipgrep('/nowhere')
  need(context, 'ripgrep')
  if (program === null) throw new Error('ripgrep is on the PATH and was not found')
  return program
}

/** Writes the files; their folders are made. */
export function writeTree(folder: string, tree: Tree): void {
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** Calls grep in a folder, as the loop would, without what comes after. */
export async function grepIn(
  folder: string,
  args: JsonObject,
  engine: SearchEngine = 'auto',
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolResult> {
  const workspace = await openWorkspace(folder)
  const prepared = await grepTool({
    workspace,
    artifacts: openArtifacts(`${folder}-artifacts`),
    engine,
  }).prepare(args)
  if (!prepared.ok) throw new Error(prepared.message)
  const context = {
    signal,
    callId: 'call_1',
    key: 'run/1/0',
    onOutput: () => undefined,
    runAgent: () => Promise.reject(new Error('there are no agents here')),
  }
  return (await prepared.call.execute(context)) as ToolResult
}

/** What it says, or the code and the message that it fails with. */
export async function grepText(folder: string, args: JsonObject, engine?: SearchEngine): Promise<string> {
  try {
    return (await grepIn(folder, args, engine)).stdout
  } catch (error) {
    if (error instanceof LoopchartError) return `${error.code}: ${error.message}`
    throw error
  }
}

/** The output of both engines, which must be the same. */
export async function grepBoth(folder: string, args: JsonObject): Promise<string> {
  const [fast, slow] = [await grepText(folder, args, 'auto'), await grepText(folder, args, 're2js')]
  if (fast === slow) return fast
  throw new Error(`the engines differ on ${JSON.stringify(args)}\nripgrep:\n${fast}\nre2js:\n${slow}`)
}
