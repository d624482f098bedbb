import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { makeFolder, ROOT, saying, scriptFile } from '../cli/run-cli.ts'
import { onTerminal } from './cli-terminal-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const ESC = '\u001b'

/** The output without what moves the cursor, and without the status line. */
function withoutStatus(output: string): string {
  // oxlint-disable-next-line no-control-regex -- what a status line is made of
  return output.replaceAll(/\u001b7.*?\u001b8/gsu, '').replaceAll('\r\n', '\n')
}

test('on a terminal a status line shows state, turn, tokens and time, and is gone at the end', async (context) => {
  const output = await onTerminal(context, 'demo')
  expect(output).toContain(`${ESC}[1;23r`)
  expect(output).toMatch(/\[working\.responding\.streaming\] turn 2, \d+ tokens, \d+\.\d s/u)
  const lastStatus = output.lastIndexOf(`${ESC}[24;1H`)
  expect(output.slice(lastStatus)).toMatch(/^.\[24;1H.\[2K.8/u)
  expect(output.lastIndexOf(`${ESC}[r`)).toBeGreaterThan(output.lastIndexOf(`${ESC}[1;23r`))
  expect(withoutStatus(output)).toContain('code 0')
})

test('text streams in one piece although the status line is drawn in between', async (context) => {
  const script = scriptFile(saying('One ', 'two ', 'three\n', 'four.'))
  const output = withoutStatus(await onTerminal(context, `run hi --provider scripted --script ${script}`))
  expect(output).toContain('One two three\nfour.\n')
})

test('NO_COLOR takes the colours and leaves the rest', async (context) => {
  const colours = new RegExp(String.raw`${ESC}\[[0-9;]*m`, 'u')
  const script = scriptFile(saying('Hello.'))
  const args = `run hi --provider scripted --script ${script}`
  expect(await onTerminal(context, args)).toMatch(colours)
  const plain = await onTerminal(context, args, { env: { NO_COLOR: '1' } })
  expect(plain).not.toMatch(colours)
  expect(plain).toContain(`${ESC}[1;23r`)
  expect(await onTerminal(context, args, { env: { TERM: 'dumb' } })).not.toContain(ESC)
})

test('T20: no escape sequence of a model reaches the terminal', async (context) => {
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
    await onTerminal(context, `run hi --provider scripted --script ${script}`, { env: { NO_COLOR: '1' } }),
  )
  // The row for the status line is made room for with the first of these.
  // oxlint-disable-next-line no-control-regex -- the characters that must not be there
  expect(output.replaceAll(`${ESC}D${ESC}[1A`, '')).not.toMatch(/[\u001b\u009b\u202e\u0007]/u)
  expect(output).toContain(String.raw`\u001b[31mred\u001b]0;t\u0007\u009b2J⟦U+202E⟧`)
})

test('on a terminal, run without a prompt says what it needs instead of waiting', async (context) => {
  const output = await onTerminal(context, 'run --provider scripted')
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

const QUESTION =
  'needs approval (tool): add\n  | add {"a":2,"b":3}\n' +
  '[y]es [n]o [a]lways these arguments [t]his tool always, or say why not: '

test.for([
  ['y', 'ok'],
  ['a', 'ok'],
  ['t', 'ok'],
  ['n', 'denied'],
  ['', 'denied'],
  ['add it up yourself', 'denied'],
] as const)('on a terminal the user is asked, and %j means %s', async ([typed, outcome], context) => {
  const output = withoutStatus(
    await onTerminal(context, `run hi --agent ${askingAgent()}`, {
      env: { NO_COLOR: '1' },
      answers: [`${typed}\n`],
    }),
  )
  expect(output).toContain(QUESTION)
  expect(output).toMatch(new RegExp(` -> ${outcome}[,:] `, 'u'))
  expect(output).toContain('code 0')
})

test('on a terminal, the end of the input leaves a call without approval', async (context) => {
  const output = withoutStatus(
    await onTerminal(context, `run hi --agent ${askingAgent()}`, {
      env: { NO_COLOR: '1' },
      answers: ['\u0004'],
    }),
  )
  expect(output).toContain('there is no terminal to ask on')
  expect(output).toContain('code 5')
})

test('on a terminal, a question is seen wherever else the output goes, with what it is about', async (context) => {
  const file = askingAgent()
  const errors = await onTerminal(context, `run hi --agent ${file} 2>/dev/null`, {
    env: { NO_COLOR: '1' },
    answers: ['y\n'],
  })
  expect(withoutStatus(errors)).toContain(QUESTION)
  const frames = await onTerminal(context, `run hi --agent ${file} --json >/dev/null`, { answers: ['y\n'] })
  expect(withoutStatus(frames)).toContain(QUESTION)
  expect(frames).toContain('code 0')
})

test('fault T21: what was typed before a question was there does not answer it', async (context) => {
  const file = askingAgent()
  const options = { env: { NO_COLOR: '1' }, typedAhead: 'y\ny\n', answers: ['n\n'] }
  const output = await onTerminal(context, `run hi --agent ${file}`, options)
  expect(output).toContain('add {"a":2,"b":3} -> denied: ')
})

test('a question goes away when the run is over', async (context) => {
  const file = askingAgent()
  const output = await onTerminal(context, `run hi --agent ${file}`, {
    env: { NO_COLOR: '1' },
    answers: ['\u0003'],
  })
  expect(output).toMatch(/why not: \^C[^]*cancelled: 1 turn, 0 calls/u)
})

test('on a terminal, a command without a sandbox is asked about also with --approve all, each time', async (context) => {
  const call = { type: 'function_call', name: 'shell', arguments: { command: 'true' } } as const
  const script = scriptFile(
    { output: [call, { ...call, arguments: { command: 'echo b' } }] },
    saying('Done.'),
  )
  const flags = `--workspace ${makeFolder()} --trust --no-sandbox --approve all`
  const output = withoutStatus(
    await onTerminal(context, `run hi --provider scripted --script ${script} ${flags}`, {
      env: { NO_COLOR: '1' },
      answers: ['y\n', 'not that one\n'],
    }),
  )
  expect(output).toContain(
    'needs approval (unsandboxed): shell\n  | run 1 line of bash with NO SANDBOX:\n  | true\n[y]es [n]o, or say why not: ',
  )
  expect(output).toMatch(/shell \{"command":"true"\} -> ok/u)
  expect(output).toMatch(/shell \{"command":"echo b"\} -> denied: not that one/u)
})
