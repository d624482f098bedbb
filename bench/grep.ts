import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openArtifacts } from '../src/tools/artifacts/artifact-store.ts'
import { grepTool } from '../src/tools/builtin/grep.ts'
import { findRipgrep } from '../src/tools/search/find-ripgrep.ts'
import type { Tool } from '../src/tools/tool.ts'
import { ToolResult } from '../src/tools/tool-result.ts'
import { openWorkspace } from '../src/tools/workspace/workspace.ts'
import type { Figure } from './decode.ts'
import { median, pairedRatio } from './measure.ts'

const ROUNDS = 11
const FOLDERS = 500
const FILES_A_FOLDER = 100
const LINES = 40
// One file in a hundred has a line that matches.
const RARE = 100
const PATTERN = 'needle_[0-9]+'

/** What our grep costs beside plain ripgrep on the same tree; no figure where there is no ripgrep. */
export async function grepFigures(): Promise<readonly Figure[]> {
  const program = await findRipgrep('/nowhere')
  if (program === null) return []
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-bench-grep-'))
  try {
    writeFiles(join(folder, 'tree'))
    return [await ratioFigure(program, folder)]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function ratioFigure(program: string, folder: string): Promise<Figure> {
  const tree = join(folder, 'tree')
  const grep = grepTool({
    workspace: await openWorkspace(tree),
    artifacts: openArtifacts(join(folder, 'artifacts')),
  })
  const ours: number[] = []
  const plain: number[] = []
  for (let round = -2; round < ROUNDS; round += 1) {
    const plainMs = await millisOf(() => runPlain(program, tree))
    const oursMs = await millisOf(() => runOurs(grep))
    if (round < 0) continue
    plain.push(plainMs)
    ours.push(oursMs)
  }
  const files = FOLDERS * FILES_A_FOLDER
  return {
    id: 'grep_50000_files',
    value: pairedRatio(ours, plain),
    unit: 'x plain ripgrep',
    budget: 1.5,
    about:
      `median of ${ROUNDS} pairs; ${files} files of ${LINES} lines, ${files / RARE} of them match: ` +
      `${median(ours).toFixed(0)} ms, ripgrep ${median(plain).toFixed(0)} ms`,
  }
}

function writeFiles(tree: string): void {
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    const path = join(tree, `part-${folder % 10}`, `folder-${folder}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < FILES_A_FOLDER; file += 1) {
      const lines = Array.from(
        { length: LINES },
        (_, at) => `export const value${at} = compute(${file}, ${folder})`,
      )
      if ((folder * FILES_A_FOLDER + file) % RARE === 0) lines[LINES / 2] = `// needle_${folder}`
      writeFileSync(join(path, `file-${file}.ts`), `${lines.join('\n')}\n`)
    }
  }
}

/** As a person would call it. Not through a shell, and its output is read. */
function runPlain(program: string, tree: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      program,
      ['-n', '-e', PATTERN, './'],
      { cwd: tree, maxBuffer: 64 * 1024 * 1024 },
      (error, out) => {
        if (error === null && out.split('\n').length === FOLDERS + 1) resolve()
        else reject(error ?? new Error('ripgrep found something else'))
      },
    )
  })
}

async function runOurs(grep: Tool): Promise<void> {
  const prepared = await grep.prepare({ pattern: PATTERN })
  if (!prepared.ok) throw new Error(prepared.message)
  const result = await prepared.call.execute({
    signal: new AbortController().signal,
    callId: 'call_1',
    key: 'bench/1/0',
    onOutput: () => undefined,
    runAgent: () => Promise.reject(new Error('there are no agents here')),
  })
  const isRight = ToolResult.is(result) && result.artifacts[0]?.['found'] === FOLDERS
  if (!isRight) throw new Error('grep found something else')
}

async function millisOf(work: () => Promise<void>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}
