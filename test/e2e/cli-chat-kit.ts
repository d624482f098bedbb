import { spawn } from 'node:child_process'

import { onTestFinished, type TestContext } from 'vitest'

import type { CreateResponseBody } from '../../src/protocol/requests.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import {
  startScriptedProvider,
  type ScriptedProvider,
  type ScriptedProviderOptions,
} from '../../src/provider/scripted/start-scripted-provider.ts'
import { cleanEnv, MAIN, ROOT } from '../cli/run-cli.ts'
import { need } from '../need.ts'
import { CALL, STALLED } from './cli-store-kit.ts'

/**
 * A provider that says how many messages of the user it was told of and what the last one is. `launch` in a message
 * makes it call the tool of that name, `wait` makes it say `Wait` and stop there, and `break` is refused.
 */
export async function echoing(options: ScriptedProviderOptions = {}): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider(answerTo, options)
  onTestFinished(() => provider.close())
  return provider
}

function answerTo({ input = '' }: CreateResponseBody): ScriptTurn {
  const items: readonly unknown[] = typeof input === 'string' ? [] : (input ?? [])
  const messages = items.filter((item) => Object(item).role === 'user')
  const last = messages.at(-1)
  const said = typeof input === 'string' ? input : textOf(Object(last).content)
  // A request that continues one of before has only what is new.
  if (Object(items.at(-1)).type === 'function_call_output') return says('It is launched.')
  if (said.includes('launch')) return CALL
  if (said.includes('break')) return { fault: { type: 'status', status: 400 } }
  return said.includes('wait') ? STALLED : says(`I know ${messages.length}: ${said}.`)
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part: unknown) => String(Object(part).text)).join('') : ''
}

function says(text: string): ScriptTurn {
  const usage = { input_tokens: 1000, output_tokens: 50, cached_tokens: 800, reasoning_tokens: 20 }
  return { output: [{ type: 'message', text }], usage }
}

/** A command at a terminal that somebody types at. */
export interface TypedCli {
  /** Resolves when something is shown that was not looked for before; rejects when the command ends without. */
  until(pattern: RegExp): Promise<string>
  /** The same of the last row, which says where a run is. */
  untilStatus(pattern: RegExp): Promise<string>
  type(text: string): void
  /** Everything that was shown, with the exit code in a last line. */
  readonly ended: Promise<string>
}

/** Starts a command at a terminal of 24 rows. */
export function typeAt(
  context: TestContext,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TypedCli {
  need(context, 'script')
  const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  // A shell that was interrupted while it waited would not go on to say the code.
  const command = `trap : INT; stty rows 24 cols 200; ${words}; echo "code $?"`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: ROOT,
    env: cleanEnv({ TERM: 'xterm-256color', SHELL: '/bin/sh', NO_COLOR: '1', ...env }),
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  // A test that waits for what never comes has nothing else to say.
  context.onTestFailed(() => console.error(`what the terminal showed: ${JSON.stringify(shown)}`))
  let isOver = false
  let look = nothing
  child.stdin.on('error', () => undefined)
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    look()
  })
  const ended = new Promise<string>((resolve) => {
    child.on('close', () => {
      isOver = true
      look()
      resolve(shown)
    })
  })
  const watch = (seen: () => string): ((pattern: RegExp) => Promise<string>) => {
    let lookedAt = 0
    return (pattern) =>
      new Promise((resolve, reject) => {
        look = (): void => {
          const found = pattern.exec(seen().slice(lookedAt))
          if (found !== null) {
            lookedAt += found.index + found[0].length
            look = nothing
            resolve(found[0])
          } else if (isOver) reject(new Error(`it ended without ${String(pattern)}: ${shown}`))
        }
        look()
      })
  }
  return {
    ended,
    type: (text) => void child.stdin.write(text),
    until: watch(() => shown.replaceAll(ELSEWHERE, '')),
    untilStatus: watch(() => [...shown.matchAll(ELSEWHERE)].join('\n')),
  }
}

// From where the cursor's place is kept to where it is gone back to: the row of the status may be written again between any
// two characters of an answer. What is not whole yet belongs to it, too.
// oxlint-disable-next-line no-control-regex -- that is what a terminal is told these by
const ELSEWHERE = /\u001b7[^]*?(?:\u001b8|$)/gu

function nothing(): void {
  // Nobody looks for anything.
}

/** The prompt of a chat, behind what tells the terminal to mark what is pasted. */
export const PROMPT = /\[\?2004h[^>]*> /u
