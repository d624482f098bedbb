import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openLog } from '../../src/cli/log.ts'
import { outputShape } from '../../src/cli/output-shape.ts'
import { Redactor } from '../../src/frames/redactor.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { makeFolder } from './run-cli.ts'

function warning(cause: string): Frame {
  return { v: 1, run_id: 'run_1', seq: 0, ts: 0, type: 'warning', cause, figures: {} }
}

async function logged(cause: string): Promise<string> {
  const file = join(makeFolder(), 'log')
  const log = await openLog({ level: 'warn', file, redactor: new Redactor(['known-secret-value']) })
  log?.frame(warning(cause))
  log?.close()
  return readFileSync(file, 'utf8')
}

test('a log masks secrets by itself, also what only looks like one', async () => {
  expect(await logged('it is known-secret-value')).toContain('"cause":"it is [redacted]"')
  expect(await logged('{"authorization":"Bearer abcdefgh12345678"}')).toContain(
    String.raw`\"Bearer [redacted]\"`,
  )
  expect(await logged('key sk-abcdefgh12345678 refused')).toContain('"cause":"key sk-[redacted] refused"')
})

test('a log line is one line of JSON, whatever it is about', async () => {
  const line = await logged('two\nlines \u2028 and known-secret-value "quoted"')
  expect(line.trimEnd().split('\n')).toHaveLength(1)
  expect(JSON.parse(line)).toMatchObject({ level: 40, run: 'run_1', msg: 'warning' })
})

test('without a level there is no log', async () => {
  const options = { level: 'silent', file: undefined, redactor: new Redactor([]) } as const
  expect(await openLog(options)).toBe(null)
})

test('the shape of an output has its words and the lengths of its texts', () => {
  const item = {
    type: 'message',
    status: 'completed',
    content: [{ type: 'output_text', text: 'secret words' }],
    new: null,
  }
  expect(outputShape([item])).toEqual([
    {
      type: 'message',
      status: 'completed',
      content: [{ type: 'output_text', text: 'text of 12' }],
      new: null,
    },
  ])
  const deep = JSON.parse(`${'['.repeat(50)}1${']'.repeat(50)}`) as unknown
  expect(JSON.stringify(outputShape(deep)).length).toBeLessThan(40)
})
