import { readdirSync } from 'node:fs'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { openArtifacts } from '../../../src/tools/artifacts/artifact-store.ts'
import { ByteEnds } from '../../../src/tools/process/byte-ends.ts'
import { LiveText } from '../../../src/tools/process/live-text.ts'
import { OutputCapture } from '../../../src/tools/process/output-capture.ts'
import { place } from './command-kit.ts'

const KIB = 1024

test('the ends of any pieces are the first and the last bytes of the whole', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 })
  fc.assert(
    fc.property(
      pieces,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      (chunks, head, tail) => {
        const ends = new ByteEnds(head, tail)
        for (const chunk of chunks) ends.take(chunk)
        const whole = Buffer.concat(chunks)
        expect(ends.bytesTotal).toBe(whole.length)
        expect(ends.head()).toEqual(whole.subarray(0, head))
        expect(ends.tail()).toEqual(whole.subarray(head).subarray(-tail))
      },
    ),
  )
})

test('a character that is split between two pieces is shown whole', () => {
  const bytes = Buffer.from('aé€😀b')
  for (let at = 0; at <= bytes.length; at += 1) {
    const shown: string[] = []
    const live = new LiveText((text) => shown.push(text))
    live.take(bytes.subarray(0, at))
    live.take(bytes.subarray(at))
    live.end()
    expect(shown.join('')).toBe('aé€😀b')
    expect(shown.join('')).not.toContain('�')
  }
})

test('half a character at the end is shown as U+FFFD', () => {
  const shown: string[] = []
  const live = new LiveText((text) => shown.push(text))
  live.take(Buffer.from([0x61, 0xe2, 0x82]))
  live.end()
  expect(shown.join('')).toBe('a�')
})

test('one stream shows 1 MiB live and then one note, however much comes', () => {
  const shown: string[] = []
  const live = new LiveText((text) => shown.push(text))
  for (let at = 0; at < 40; at += 1) live.take(Buffer.alloc(100 * KIB, 'x'))
  live.end()
  const text = shown.join('')
  expect(text.replace(/^x+/, '')).toBe('\n[further output is not shown live]\n')
  expect(/^x+/.exec(text)?.[0].length).toBe(KIB * KIB)
})

test('output of up to 512 KiB is shown whole and makes no artifact', async () => {
  const { stateFolder } = place()
  const capture = new OutputCapture(openArtifacts(stateFolder), () => undefined)
  capture.take(Buffer.alloc(512 * KIB, 'a'))
  const kept = await capture.finish()
  expect(kept).toMatchObject({ bytesTotal: 512 * KIB, isTruncated: false, artifact: null })
  expect(kept.text).toBe('a'.repeat(512 * KIB))
  expect(() => readdirSync(stateFolder)).toThrow('ENOENT')
})

test('output of one byte more is cut and kept whole in an artifact', async () => {
  const artifacts = openArtifacts(place().stateFolder)
  const capture = new OutputCapture(artifacts, () => undefined)
  const bytes = Buffer.alloc(512 * KIB + 1, 'line of text\n')
  for (let at = 0; at < bytes.length; at += 1000) capture.take(bytes.subarray(at, at + 1000))
  const kept = await capture.finish()
  expect(kept).toMatchObject({ bytesTotal: bytes.length, isTruncated: true })
  const id = kept.artifact?.id ?? ''
  expect(kept.text).toContain(`artifact_fetch with id ${id}`)
  const first = await artifacts.read(id, 0, 512 * KIB)
  const last = await artifacts.read(id, 512 * KIB, 512 * KIB)
  expect(Buffer.concat([first.bytes, last.bytes]).equals(bytes)).toBe(true)
})

test('an artifact takes the first 16 MiB of more', async () => {
  const capture = new OutputCapture(openArtifacts(place().stateFolder), () => undefined)
  for (let at = 0; at < 20; at += 1) capture.take(Buffer.alloc(KIB * KIB, 'z'))
  const kept = await capture.finish()
  expect(kept.bytesTotal).toBe(20 * KIB * KIB)
  expect(kept.artifact).toMatchObject({ bytes: 16 * KIB * KIB, isTruncated: true })
})

test('bytes that are not UTF-8 are in an artifact as they were', async () => {
  const artifacts = openArtifacts(place().stateFolder)
  const capture = new OutputCapture(artifacts, () => undefined)
  const bytes = Buffer.from([0x61, 0xff, 0x00, 0x62])
  capture.take(bytes)
  const kept = await capture.finish()
  expect(kept.text).toBe('a�\0b\n[what is not UTF-8 is shown as U+FFFD]\n')
  expect((await artifacts.read(kept.artifact?.id ?? '', 0, 100)).bytes.equals(bytes)).toBe(true)
})
