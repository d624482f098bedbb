import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { expect, test, vi, type TestContext } from 'vitest'

import { need } from '../need.ts'
import { cleanEnv, MAIN, makeFolder, ROOT, saying, scriptFile } from '../cli/run-cli.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

/** What a command writes to a terminal of 24 rows. */
function onTerminal(
  context: TestContext,
  args: string,
  env: Readonly<Record<string, string>> = {},
  typed = '',
): string {
  need(context, 'script')
  const command = `stty rows 24 cols 80; ${process.execPath} ${MAIN} ${args}; echo "code $?"`
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: cleanEnv({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }),
    input: typed,
    timeout: 50_000,
  })
  return stdout
}

const ESC = '\u001b'

/** The output without what moves the cursor, and without the status line. */
function withoutStatus(output: string): string {
  // oxlint-disable-next-line no-control-regex -- what a status line is made of
  return output.replaceAll(/\u001b7.*?\u001b8/gsu, '').replaceAll('\r\n', '\n')
}

test('on a terminal a status line shows state, turn, tokens and time, and is gone at the end', (context) => {
  const output = onTerminal(context, 'demo')
  expect(output).toContain(`${ESC}[1;23r`)
  expect(output).toMatch(/\[working\.responding\.streaming\] turn 2, \d+ tokens, \d+\.\d s/u)
  const lastStatus = output.lastIndexOf(`${ESC}[24;1H`)
  expect(output.slice(lastStatus)).toMatch(/^.\[24;1H.\[2K.8/u)
  expect(output.lastIndexOf(`${ESC}[r`)).toBeGreaterThan(output.lastIndexOf(`${ESC}[1;23r`))
  expect(withoutStatus(output)).toContain('code 0')
})

test('text streams in one piece although the status line is drawn in between', (context) => {
  const script = scriptFile(saying('One ', 'two ', 'three\n', 'four.'))
  const output = withoutStatus(onTerminal(context, `run hi --provider scripted --script ${script}`))
  expect(output).toContain('One two three\nfour.\n')
})

test('NO_COLOR takes the colours and leaves the rest', (context) => {
  const colours = new RegExp(String.raw`${ESC}\[[0-9;]*m`, 'u')
  const script = scriptFile(saying('Hello.'))
  const args = `run hi --provider scripted --script ${script}`
  expect(onTerminal(context, args)).toMatch(colours)
  const plain = onTerminal(context, args, { NO_COLOR: '1' })
  expect(plain).not.toMatch(colours)
  expect(plain).toContain(`${ESC}[1;23r`)
  expect(onTerminal(context, args, { TERM: 'dumb' })).not.toContain(ESC)
})

test('T20: no escape sequence of a model reaches the terminal', (context) => {
  const script = scriptFile(
    {
      output: [
        { type: 'message', text: `${ESC}[31mred${ESC}]0;t\u0007\u009b2J\u202e` },
        { type: 'function_call', name: `${ESC}c`, arguments: `{"a":"${ESC}[2J"}` },
      ],
    },
    saying(`${ESC}[r done`),
  )
  const output = withoutStatus(
    onTerminal(context, `run hi --provider scripted --script ${script}`, { NO_COLOR: '1' }),
  )
  // The row for the status line is made room for with the first of these.
  // oxlint-disable-next-line no-control-regex -- the characters that must not be there
  expect(output.replaceAll(`${ESC}D${ESC}[1A`, '')).not.toMatch(/[\u001b\u009b\u202e\u0007]/u)
  expect(output).toContain(String.raw`\u001b[31mred\u001b]0;t\u0007\u009b2J\u202e`)
})

test('on a terminal, run without a prompt says what it needs instead of waiting', (context) => {
  const output = onTerminal(context, 'run --provider scripted')
  expect(output).toContain('run needs a prompt: give it as an argument, or pipe it in [usage]')
  expect(output).toContain('code 2')
})

/** A module with an agent that answers from recorded streams, and whose tool needs approval. */
function askingAgent(): string {
  const source = `import { agent, tool } from '${ROOT}src/index.ts'
import { recordedModel } from '${ROOT}examples/recorded-model.ts'
const add = tool({ name: 'add', description: 'Add two numbers.', inputSchema: { type: 'object' }, needsApproval: true, execute: () => 5 })
export default agent({ model: recordedModel('text-then-call', 'text'), tools: [add] })`
  return join(makeFolder({ 'agent.ts': source }), 'agent.ts')
}

test.for([
  ['y', 'ok'],
  ['n', 'denied'],
  ['', 'denied'],
] as const)('on a terminal the user is asked, and %j means %s', ([typed, outcome], context) => {
  const output = withoutStatus(
    onTerminal(context, `run hi --agent ${askingAgent()}`, { NO_COLOR: '1' }, `${typed}\n`),
  )
  expect(output).toContain('needs approval: add {"a":2,"b":3}\nrun it? [y/N] ')
  expect(output).toContain(` -> ${outcome}, `)
  expect(output).toContain('code 0')
})

test('on a terminal, the end of the input leaves a call without approval', (context) => {
  const output = withoutStatus(
    onTerminal(context, `run hi --agent ${askingAgent()}`, { NO_COLOR: '1' }, '\u0004'),
  )
  expect(output).toContain('there is no terminal to ask on')
  expect(output).toContain('code 5')
})

test('on a terminal, a question is seen wherever else the output goes, with what it is about', (context) => {
  const file = askingAgent()
  const errors = onTerminal(context, `run hi --agent ${file} 2>/dev/null`, { NO_COLOR: '1' }, 'y\n')
  expect(withoutStatus(errors)).toContain('needs approval: add {"a":2,"b":3}\nrun it? [y/N] ')
  const frames = onTerminal(context, `run hi --agent ${file} --json >/dev/null`, {}, 'y\n')
  expect(frames).toContain('run add {"a":2,"b":3}? [y/N] ')
  expect(frames).toContain('code 0')
})
