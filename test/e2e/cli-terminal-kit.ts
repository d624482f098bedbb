import { spawn } from 'node:child_process'

import { onTestFinished, type TestContext } from 'vitest'

import { need } from '../need.ts'
import { cleanEnv, MAIN, ROOT } from '../cli/run-cli.ts'

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>
  /** What is typed, each when the next question is there. */
  readonly answers?: readonly string[]
  /** What is typed before anything is shown. */
  readonly typedAhead?: string
  /** More settings of the terminal, such as `-echo`. */
  readonly stty?: string
}

const QUESTION_END = 'or say why not: '

/** What a command writes to a terminal of 24 rows, byte for byte, with its exit code in a last line. */
export async function bytesOnTerminal(
  context: TestContext,
  args: string,
  { env = {}, answers = [], typedAhead = '', stty = '' }: TerminalOptions = {},
): Promise<Buffer> {
  need(context, 'script')
  const command = `stty rows 24 cols 80 ${stty}; ${process.execPath} ${MAIN} ${args}; echo "code $?"`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: ROOT,
    env: cleanEnv({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }),
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const chunks: Buffer[] = []
  let asked = 0
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    const seen = Buffer.concat(chunks).toString('utf8').split(QUESTION_END).length - 1
    for (; asked < seen; asked += 1) child.stdin.write(answers[asked] ?? '')
  })
  child.stdin.on('error', () => undefined)
  child.stdin.write(typedAhead)
  await new Promise((resolve) => child.on('close', resolve))
  return Buffer.concat(chunks)
}

/** The same as text. */
export async function onTerminal(
  context: TestContext,
  args: string,
  options: TerminalOptions = {},
): Promise<string> {
  return (await bytesOnTerminal(context, args, options)).toString('utf8')
}
