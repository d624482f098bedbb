import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'

import { openArtifacts, type ArtifactStore } from '../../../src/tools/artifacts/artifact-store.ts'
import { artifactFetchTool } from '../../../src/tools/builtin/artifact-fetch.ts'
import { readEnvelope, runTool } from '../../unit/tools/run-tool.ts'

interface Fetched {
  readonly text: string
  readonly note: string
  readonly offset: number
  readonly bytes: number
  readonly total: number
  readonly isTruncated: boolean
}

function makeStore(): ArtifactStore {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-artifacts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return openArtifacts(folder)
}

async function put(store: ArtifactStore, bytes: Uint8Array | string): Promise<string> {
  return (await store.put(Buffer.from(bytes as string)))?.id ?? ''
}

async function fetch(store: ArtifactStore, id: string, offset?: number, length?: number): Promise<Fetched> {
  const args = JSON.stringify({ id, offset_bytes: offset, length_bytes: length })
  const result = await runTool(artifactFetchTool({ artifacts: store }), { args })
  if (result.outcome !== 'ok')
    throw new Error(`${result.outcome} ${result.error?.code} ${result.error?.message}`)
  const { stdout, stderr } = readEnvelope(result.output) as unknown as { stdout: string; stderr: string }
  const [facts] = result.artifacts as unknown as [
    { id: string; offset_bytes: number; bytes: number; total_bytes: number; truncated: boolean },
  ]
  expect(facts.id).toBe(id)
  const { offset_bytes, bytes, total_bytes, truncated } = facts
  return {
    text: stdout,
    note: stderr,
    offset: offset_bytes,
    bytes,
    total: total_bytes,
    isTruncated: truncated,
  }
}

test('a short artifact is given whole', async () => {
  const store = makeStore()
  const id = await put(store, 'one\r\ntwo\n')
  expect(await fetch(store, id)).toEqual({
    text: 'one\r\ntwo\n',
    note: '',
    offset: 0,
    bytes: 9,
    total: 9,
    isTruncated: false,
  })
})

test('a range of a long one says that there is more', async () => {
  const store = makeStore()
  const id = await put(store, Buffer.alloc(1024 * 1024, 'x'))
  expect(await fetch(store, id)).toMatchObject({ bytes: 65_536, total: 1_048_576, isTruncated: true })
  expect(await fetch(store, id, 524_288, 524_288)).toMatchObject({ bytes: 524_288, isTruncated: false })
})

test('a range that begins beyond the end is empty', async () => {
  const store = makeStore()
  const id = await put(store, 'abc')
  expect(await fetch(store, id, 100, 5)).toEqual({
    text: '',
    note: '',
    offset: 100,
    bytes: 0,
    total: 3,
    isTruncated: false,
  })
})

test('a character belongs to the range that it begins in, and is never cut', async () => {
  const store = makeStore()
  const id = await put(store, 'a€b')
  expect(await fetch(store, id, 0, 2)).toMatchObject({ text: 'a€', offset: 0, bytes: 4 })
  expect(await fetch(store, id, 2, 2)).toMatchObject({ text: '', offset: 4, bytes: 0 })
  expect(await fetch(store, id, 3, 2)).toMatchObject({ text: 'b', offset: 4, bytes: 1 })
})

test('what is not UTF-8 is U+FFFD, with a note', async () => {
  const store = makeStore()
  const id = await put(store, Buffer.from([0x61, 0xff, 0x62]))
  expect(await fetch(store, id)).toMatchObject({
    text: 'a\u{FFFD}b',
    note: 'what is not UTF-8 is shown as U+FFFD',
  })
})

const anyContent = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc
    .array(fc.constantFrom(0x61, 0x80, 0xa0, 0xc3, 0xe2, 0xf0, 0x9f), { maxLength: 60 })
    .map((bytes) => Buffer.from(bytes)),
)

test('ranges add up to the whole text, however it is split', async () => {
  const store = makeStore()
  await fc.assert(
    fc.asyncProperty(
      anyContent,
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 80 }),
      async (content, lengths) => {
        const id = await put(store, content)
        let text = ''
        let offset = 0
        for (const length of [...lengths, content.length + 1]) {
          text += (await fetch(store, id, offset, length)).text
          offset += length
        }
        expect(text).toBe(content.toString())
      },
    ),
    { numRuns: 60 },
  )
})

test('going on where the last range ended comes to the end, and gives the whole text', async () => {
  const store = makeStore()
  await fc.assert(
    fc.asyncProperty(anyContent, fc.integer({ min: 1, max: 5 }), fc.nat(3), async (content, length, from) => {
      const id = await put(store, content)
      const texts: string[] = []
      let next = from
      for (let isMore = true; isMore;) {
        const range = await fetch(store, id, next, length)
        texts.push(range.text)
        expect(range.offset + range.bytes).toBeGreaterThan(range.isTruncated ? next : -1)
        next = range.offset + range.bytes
        isMore = range.isTruncated
      }
      const whole = content.toString()
      expect(whole.endsWith(texts.join(''))).toBe(true)
      expect(from > 0 || texts.join('') === whole).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test.each([
  ['an id that is not there', { id: '0'.repeat(64) }, 'artifact_unknown'],
  ['an id that is a path', { id: '../'.repeat(21) + 'a' }, 'artifact_unknown'],
  ['a short id', { id: 'abc' }, 'tool_arguments_invalid'],
  ['a negative offset', { id: '0'.repeat(64), offset_bytes: -1 }, 'tool_arguments_invalid'],
  ['a length over 512 KiB', { id: '0'.repeat(64), length_bytes: 524_289 }, 'tool_arguments_invalid'],
  ['a length of nothing', { id: '0'.repeat(64), length_bytes: 0 }, 'tool_arguments_invalid'],
])('%s is refused', async (_, args, code) => {
  const result = await runTool(artifactFetchTool({ artifacts: makeStore() }), { args: JSON.stringify(args) })
  expect(result.error?.code).toBe(code)
})

test('fetching changes nothing, so it may run again and beside others', () => {
  expect(artifactFetchTool({ artifacts: makeStore() })).toMatchObject({
    name: 'artifact_fetch',
    readOnly: true,
  })
})
