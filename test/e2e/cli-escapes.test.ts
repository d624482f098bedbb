import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import type { JsonObject } from '../../src/protocol/json.ts'
import type { ScriptItem, ScriptTurn } from '../../src/provider/scripted/script.ts'
import { ESCAPE_PAYLOADS, RAW } from '../cli/escape-payloads.ts'
import { makeFolder, scriptFile } from '../cli/run-cli.ts'
import { need } from '../need.ts'
import { bytesOnTerminal } from './cli-terminal-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 120_000 })

interface Payload {
  /** Seen in the output when the place that it marks was shown. */
  readonly mark: string
  readonly text: string
}

const PAYLOADS: readonly Payload[] = ESCAPE_PAYLOADS.map((payload, at) => {
  const mark = `p${String(at).padStart(3, '0')}`
  return { mark, text: `${mark}${payload}q` }
})
// The joiners of scripts and emoji, which an answer keeps. Nowhere else are they to be.
const ANSWERED = /(?<=Tp\d{3})[\u200c\u200d](?=q)/gu
const BATCH = 10
const BATCHES = Array.from({ length: PAYLOADS.length / BATCH }, (_, at) =>
  PAYLOADS.slice(at * BATCH, (at + 1) * BATCH),
)

function call(name: string, args: JsonObject): ScriptItem {
  return { type: 'function_call', name, arguments: args }
}

/** A model that says payloads, in its text, in paths, in commands that are denied, and in the error that it ends with. */
function scriptWith(payloads: readonly Payload[]): string {
  const commands = payloads.map(({ text }) => call('shell', { command: `true # W${text}` }))
  const turns: readonly ScriptTurn[] = [
    {
      output: [
        { type: 'message', text: payloads.map(({ text }) => `T${text} `) },
        ...payloads.map(({ text }) => call('read_file', { path: `A${text}` })),
      ],
    },
    { output: commands },
    {
      output: [
        call('shell', { argv: ['printf', '%s', ...payloads.map(({ text }) => printable(`O${text}`))] }),
      ],
    },
    { end: { status: 'failed', code: 'bad', message: payloads.map(({ text }) => `E${text}`).join(' ') } },
  ]
  return scriptFile(...turns)
}

/** What can be an argument of a program or the name of a file: it has no end in the middle. */
function printable(text: string): string {
  return text.replaceAll('\u0000', '')
}

function workspaceWith(payloads: readonly Payload[]): string {
  const workspace = makeFolder()
  for (const { text } of payloads) {
    writeFileSync(join(workspace, printable(`N${text}`).replaceAll('/', '')), `inside ${text}`)
  }
  return workspace
}

// What is typed is what a person would type, so it has no line ends of its own.
function reasons(payloads: readonly Payload[]): readonly string[] {
  return payloads.map(({ text }) => `D${text.replaceAll(/[\r\n]/gu, '')}\n`)
}

const FLAGS = '--provider scripted --trust --limit tool_calls=500,turns=20'

// The terminal hands on what is typed, and shows none of it by itself.
const STTY = '-echo -isig -icanon -ixon -icrnl'

// The sequences that the command line itself uses: to save and restore the cursor, to keep a row, to write in colour.
// oxlint-disable-next-line no-control-regex -- what a status line is made of
const OWN = /\u001b(?:[78D]|\[(?:1A|24;1H|2K|1;23r|r|1m|2m|22m|31m|32m|33m|39m))/gu

/** The bytes as text; throws when they are not UTF-8, for a lone byte above 127 is a control to some terminals. */
function textOf(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

function expectShown(text: string, places: string, payloads: readonly Payload[]): void {
  const missing = payloads.flatMap(({ mark }) =>
    places
      .split('')
      .map((place) => place + mark)
      .filter((sign) => !text.includes(sign)),
  )
  expect(missing).toEqual([])
}

test.for(BATCHES.map((payloads, at) => [at, payloads] as const))(
  'fault T20: no payload of batch %i reaches a dumb terminal raw, from text, arguments, previews, reasons or errors',
  async ([, payloads], context) => {
    const args = `run hi ${FLAGS} --script ${scriptWith(payloads)} --workspace ${workspaceWith(payloads)}`
    const output = textOf(
      await bytesOnTerminal(context, args, {
        env: { TERM: 'dumb', NO_COLOR: '1' },
        answers: [...reasons(payloads), 'y\n'],
        stty: STTY,
      }),
    )
    expectShown(output, 'TAWODE', payloads)
    expect(output).toContain('code 4')
    expect(output.replaceAll(ANSWERED, '')).not.toMatch(RAW)
  },
)

test('fault T20: with colours and a status line, only sequences of the command line itself are written', async (context) => {
  const payloads = PAYLOADS.slice(30, 70)
  const args = `run hi ${FLAGS} --approve none --script ${scriptWith(payloads)} --workspace ${workspaceWith(payloads)}`
  const output = textOf(await bytesOnTerminal(context, args, { stty: STTY }))
  expect(output).toMatch(OWN)
  expectShown(output, 'TAW', payloads)
  expectShown(output, 'E', payloads.slice(0, 10))
  expect(output.replaceAll(OWN, '').replaceAll(ANSWERED, '')).not.toMatch(RAW)
})

test('fault T20: frames on a terminal are as safe, with what tools wrote and the names of files', async (context) => {
  // Without a sandbox nobody may run a shell unasked.
  need(context, 'bubblewrap')
  const names = call('list_dir', {})
  const found = call('grep', { pattern: 'inside' })
  const shell = call('shell', {
    argv: ['printf', '%s', ...PAYLOADS.map(({ text }) => printable(`O${text}`))],
  })
  const script = scriptFile(
    { output: [names, found, shell] },
    { output: [{ type: 'message', text: PAYLOADS.map(({ text }) => `T${text}`) }] },
  )
  const args = `run hi ${FLAGS} --approve all --json --log-level trace --script ${script} --workspace ${workspaceWith(PAYLOADS)}`
  const output = textOf(await bytesOnTerminal(context, args, { stty: STTY }))
  expectShown(output, 'NOT', PAYLOADS)
  expect(output).toContain('"type":"tool_stdout"')
  expect(output).not.toMatch(RAW)
})
