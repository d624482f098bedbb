import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'

import { expect, test } from 'vitest'

import { LineEditor } from '../../src/cli/line-editor.ts'

/** A terminal as far as an editor needs one. */
class FakeTerminal extends PassThrough {
  isRaw = false
  readonly modes: boolean[] = []

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw
    this.modes.push(isRaw)
    return this
  }

  ref(): this {
    return this
  }
}

interface Desk {
  readonly editor: LineEditor
  readonly input: FakeTerminal
  /** What was written so far. */
  readonly shown: () => string
}

function desk(complete?: (beginning: string) => readonly string[]): Desk {
  const input = new FakeTerminal()
  const output = new PassThrough()
  let shown = ''
  output.setEncoding('utf8').on('data', (text: string) => {
    shown += text
  })
  const editor = new LineEditor({
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
    isLive: true,
    ...(complete === undefined ? {} : { complete }),
  })
  return { editor, input, shown: () => shown }
}

test('lines that were typed ahead answer one question each', async () => {
  const { editor, input } = desk()
  input.write('one\ntwo\nthr')
  expect(await editor.ask('> ')).toEqual({ kind: 'line', text: 'one' })
  expect(await editor.ask('> ')).toEqual({ kind: 'line', text: 'two' })
  const third = editor.ask('> ')
  input.write('ee\r')
  expect(await third).toEqual({ kind: 'line', text: 'three' })
})

test('between two questions the terminal is as it was, and others can read the input', async () => {
  const { editor, input, shown } = desk()
  const asked = editor.ask('> ')
  expect(input.isRaw).toBe(true)
  input.write('hi\r')
  await asked
  expect(input.isRaw).toBe(false)
  expect(input.isPaused()).toBe(true)
  expect(input.listenerCount('data')).toBe(0)
  expect(shown().startsWith('\u001b[?2004h')).toBe(true)
  expect(shown().endsWith('\u001b[?2004l')).toBe(true)
})

test.for([
  ['Ctrl-C', '\u0003', 'interrupt'],
  ['Ctrl-D', '\u0004', 'end'],
] as const)('%s at the prompt is told from a line', async ([, key, kind]) => {
  const { editor, input, shown } = desk()
  const asked = editor.ask('> ')
  input.write(key)
  expect(await asked).toEqual({ kind })
  expect(shown().endsWith('\n\u001b[?2004l')).toBe(true)
})

test('an input that ends ends the question, and every later one', async () => {
  const { editor, input } = desk()
  const asked = editor.ask('> ')
  input.end()
  expect(await asked).toEqual({ kind: 'end' })
  expect(await editor.ask('> ')).toEqual({ kind: 'end' })
})

test('a question that is taken back is as good as ended, and leaves the terminal as it was', async () => {
  const { editor, input } = desk()
  const back = new AbortController()
  const asked = editor.ask('> ', { signal: back.signal })
  back.abort()
  expect(await asked).toEqual({ kind: 'end' })
  expect(input.isRaw).toBe(false)
})

test('earlier lines can be gone back to, those of many lines in one row', async () => {
  const { editor, input, shown } = desk()
  const asked = editor.ask('> ', { history: ['newest\nline', 'older'] })
  input.write('\u001b[A')
  input.write('!\r')
  expect(await asked).toEqual({ kind: 'line', text: 'newest\nline!' })
  expect(shown()).toContain('newest⏎line')
})

test('the tab key completes what only one thing begins with', async () => {
  const { editor, input } = desk((beginning) =>
    ['/help', '/quit'].filter((name) => name.startsWith(beginning)),
  )
  const asked = editor.ask('> ')
  input.write('/h\t')
  input.write('\r')
  expect(await asked).toEqual({ kind: 'line', text: '/help' })
})
