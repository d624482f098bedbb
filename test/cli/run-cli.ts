import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { onTestFinished } from 'vitest'

import { parseFrame } from '../../src/frames/parse-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface CliOptions {
  readonly input?: string | Uint8Array
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface CliResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A command under way. */
export interface RunningCli {
  readonly child: ChildProcess
  readonly done: Promise<CliResult>
  /** Resolves when the output so far matches; rejects when the command ends without. */
  until(stream: 'out' | 'err', pattern: RegExp): Promise<string>
}

/** Starts the command line from its sources, in an environment that has nothing set. */
export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd ?? ROOT,
    env: cleanEnv(options.env),
  })
  const seen = { out: '', err: '' }
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    seen.out += chunk
    for (const listener of listeners) listener()
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    seen.err += chunk
    for (const listener of listeners) listener()
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  const done = new Promise<CliResult>((resolve) => {
    child.on('close', (code) => resolve({ code, ...seen }))
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    child,
    done,
    until: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(seen[stream])) return
          listeners.delete(look)
          resolve(seen[stream])
        }
        listeners.add(look)
        look()
        void done.then(({ err }) => reject(new Error(`it ended without ${String(pattern)}: ${err}`)))
      }),
  }
}

/** Runs a command to its end. */
export function cli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).done
}

const STATE = mkdtempSync(join(tmpdir(), 'loopchart-cli-state-'))
process.on('exit', () => rmSync(STATE, { recursive: true, force: true }))

/**
 * What a command gets for an environment: a config folder that is empty, a state folder of the tests, and no key or
 * colour of this machine.
 */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nowhere',
    XDG_CONFIG_HOME: '/nowhere',
    XDG_STATE_HOME: STATE,
    ...more,
  }
}

/** The frames that a command printed. */
export function framesIn(out: string): readonly Frame[] {
  return out.trimEnd().split('\n').map(parseFrame)
}

/** A folder for one test, gone after it. */
export function makeFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-cli-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

/** The path of a script file with these turns. */
export function scriptFile(...turns: readonly ScriptTurn[]): string {
  return join(makeFolder({ 'script.json': JSON.stringify({ v: 1, turns }) }), 'script.json')
}

/** A turn that only says something. */
export function saying(...text: readonly string[]): ScriptTurn {
  return { output: [{ type: 'message', text }] }
}
