import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { InputHistory, inputHistoryPath } from '../../src/cli/input-history.ts'
import { Redactor } from '../../src/frames/redactor.ts'
import { makeFolder } from './run-cli.ts'

const SECRET = 'correct-horse-battery'

interface Opened {
  readonly history: InputHistory
  readonly complaints: readonly string[]
}

function open(path: string): Opened {
  const complaints: string[] = []
  const onUnusable = (reason: string): void => void complaints.push(reason)
  return { history: new InputHistory({ path, redactor: new Redactor([SECRET]), onUnusable }), complaints }
}

function place(): string {
  return inputHistoryPath(join(makeFolder(), 'state', 'loopchart'))
}

test('lines are there again in another process, the newest first, also those of many lines', () => {
  const path = place()
  const { history } = open(path)
  for (const line of ['one', 'two\n\tthree', 'four']) history.add(line)
  expect(history.lines).toEqual(['four', 'two\n\tthree', 'one'])
  expect(open(path).history.lines).toEqual(['four', 'two\n\tthree', 'one'])
})

test('only its owner can read the file, also when it was open to others before', () => {
  const path = place()
  open(path).history.add('one')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  chmodSync(path, 0o666)
  open(path)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test.for([
  ['a secret that is known', `my password is ${SECRET}`],
  ['what looks like a key', 'use sk-abcdefghijklmnop1234 for it'],
  ['what looks like a bearer', 'Authorization: Bearer abcdefghijklmnop'],
  ['a line that is very long', 'x'.repeat(10_000)],
] as const)('%s can be gone back to and is never written', ([, line]) => {
  const path = place()
  const { history } = open(path)
  history.add(line)
  history.add('harmless')
  expect(history.lines).toEqual(['harmless', line])
  expect(readFileSync(path, 'utf8')).toBe('"harmless"\n')
})

test('a line that begins with a blank, is blank, or is the last one again is not kept at all', () => {
  const { history } = open(place())
  for (const line of ['one', ' hidden', '', '  ', 'one']) history.add(line)
  expect(history.lines).toEqual(['one'])
})

test('a file that has become long is cut to its newest lines', () => {
  const path = place()
  open(path)
  const lines = Array.from({ length: 2500 }, (_, at) => `"line ${at}"\n`)
  writeFileSync(path, lines.join(''))
  expect(open(path).history.lines).toHaveLength(1000)
  expect(open(path).history.lines[0]).toBe('line 2499')
  expect(readFileSync(path, 'utf8')).toBe(lines.slice(-1000).join(''))
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('of a file of any size only the end is read', () => {
  const path = place()
  open(path)
  writeFileSync(path, `"${'x'.repeat(9 * 1024 * 1024)}"\n"last"\n`)
  expect(open(path).history.lines).toEqual(['last'])
  expect(readFileSync(path, 'utf8')).toBe('"last"\n')
})

test('lines that are damaged are left out', () => {
  const path = place()
  open(path)
  writeFileSync(path, '"one"\n{"a":1}\nbroken\n"two"\n')
  expect(open(path).history.lines).toEqual(['two', 'one'])
})

test('a line of which only the end is read is not taken for one', () => {
  const path = place()
  open(path)
  const end = '"tail"\n"last"\n'
  writeFileSync(path, `"${'x'.repeat(100)}\\${end}${'x'.repeat(8 * 1024 * 1024 - end.length)}`)
  expect(open(path).history.lines).toEqual(['last'])
})

test('a link in the place of the file is not followed: it is said once, and lines are kept in memory', () => {
  const folder = makeFolder({ 'other.txt': '"mine"\n' })
  const [path, other] = [join(folder, 'chat-history.jsonl'), join(folder, 'other.txt')]
  chmodSync(other, 0o644)
  symlinkSync(other, path)
  const { history, complaints } = open(path)
  history.add('one')
  history.add('two')
  expect([history.lines, complaints.length]).toEqual([['two', 'one'], 1])
  expect([readFileSync(other, 'utf8'), statSync(other).mode & 0o777]).toEqual(['"mine"\n', 0o644])
})

test('a folder in the place of the file is said once', () => {
  const path = join(makeFolder(), 'chat-history.jsonl')
  mkdirSync(path)
  const { history, complaints } = open(path)
  history.add('one')
  expect([history.lines, complaints.length]).toEqual([['one'], 1])
})
