import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'

import { openArtifacts, type ArtifactStore } from '../../../src/tools/artifacts/artifact-store.ts'
import { artifactFacts } from '../../../src/tools/artifacts/describe-artifact.ts'
import { keepOutput } from '../../../src/tools/artifacts/keep-output.ts'
import { PREVIEW_BYTES_MAX, previewText } from '../../../src/tools/artifacts/output-preview.ts'

const NOTE =
  /\n\[\.\.\. (\d+) bytes left out: artifact_fetch with id ([0-9a-f]{64}) and offset_bytes (\d+) gives them \.\.\.\]\n/

function makeStore(): ArtifactStore {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-artifacts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return openArtifacts(join(folder, 'store'))
}

test.each([0, 1, PREVIEW_BYTES_MAX])(
  'an output of %s bytes is shown whole and not stored',
  async (length) => {
    const text = 'line\r\n'.repeat(length / 6 + 1).slice(0, length)
    const kept = await keepOutput(makeStore(), Buffer.from(text))
    expect(kept).toEqual({ text, bytesTotal: length, isTruncated: false, artifact: null })
  },
)

test('a larger output is cut between lines, and the note says where the rest is', async () => {
  const lines = new Set(Array.from({ length: 40_000 }, (_, at) => `line number ${at}\n`))
  const bytes = Buffer.from([...lines].join(''))
  const store = makeStore()
  const { text, artifact, isTruncated, bytesTotal } = await keepOutput(store, bytes)
  expect([isTruncated, bytesTotal]).toEqual([true, bytes.length])
  expect(Buffer.byteLength(text)).toBeLessThan(PREVIEW_BYTES_MAX + 300)
  const [note = '', leftOut, id = '', offset] = NOTE.exec(text) ?? []
  const [head = '', tail = ''] = text.split(note)
  expect(id).toBe(artifact?.id)
  expect(Number(offset)).toBe(Buffer.byteLength(head) + 1)
  expect(bytes.length - Number(leftOut)).toBe(Buffer.byteLength(`${head}\n${tail}`))
  const shown = `${head}\n${tail}`.split('\n').slice(0, -1)
  expect(shown.every((line) => lines.has(`${line}\n`))).toBe(true)
  const rest = await store.read(id, Number(offset), Number(leftOut))
  expect(`${head}\n${rest.bytes.toString()}${tail}`).toBe(bytes.toString())
})

test('an output without lines is cut between characters', async () => {
  // Three bytes each, so that 256 KiB end inside of one.
  const { text } = await keepOutput(makeStore(), Buffer.from('€'.repeat(300_000)))
  expect(text).not.toContain('\u{FFFD}')
  expect(text.replace(NOTE, '')).toMatch(/^€+$/)
})

test('one very long line does not cost the preview its last 200 KiB', async () => {
  const bytes = Buffer.from(`short\n${'x'.repeat(PREVIEW_BYTES_MAX)}\nshort\n`)
  const { text } = await keepOutput(makeStore(), bytes)
  expect(Buffer.byteLength(text)).toBeGreaterThan(PREVIEW_BYTES_MAX)
})

test('what is not UTF-8 is shown as U+FFFD, and a last line says so', async () => {
  const { text } = await keepOutput(makeStore(), Buffer.from([0x61, 0xff, 0x62]))
  expect(text).toBe('a\u{FFFD}b\n[what is not UTF-8 is shown as U+FFFD]\n')
})

test('a byte order mark survives', async () => {
  expect((await keepOutput(makeStore(), Buffer.from('\u{FEFF}a'))).text).toBe('\u{FEFF}a')
})

test('an output that cannot be stored is still shown, and the note says that the rest is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-artifacts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'file'), '')
  const store = openArtifacts(join(folder, 'file', 'store'))
  const kept = await keepOutput(store, Buffer.alloc(PREVIEW_BYTES_MAX + 10, 'a\n'))
  expect(kept).toMatchObject({ artifact: null, isTruncated: true, bytesTotal: PREVIEW_BYTES_MAX + 10 })
  expect(kept.text).toMatch(/\[\.{3} 12 bytes left out, they could not be stored \.{3}\]\n/)
  expect(artifactFacts(kept)).toMatchObject({ truncated: true, artifact: null })
})

test('the facts of an output name its artifact', async () => {
  const kept = await keepOutput(makeStore(), Buffer.alloc(17 * 1024 * 1024, 'a'))
  expect(artifactFacts(kept)).toEqual({
    bytes_total: 17 * 1024 * 1024,
    bytes_preview: Buffer.byteLength(kept.text),
    truncated: true,
    artifact: { id: kept.artifact?.id, bytes: 16 * 1024 * 1024, truncated: true },
  })
  expect(kept.text).toContain('of 17825792 it has the first 16777216')
})

test('a preview from the two ends of an output is that of the whole', () => {
  const sizes = fc.integer({ min: PREVIEW_BYTES_MAX, max: PREVIEW_BYTES_MAX * 2 })
  const pieces = fc.constantFrom('a', 'é', '€\n', '\u{1F600}', 'line\r\n', '\u{FFFD}')
  fc.assert(
    fc.property(
      sizes,
      fc.array(pieces, { minLength: 1, maxLength: 20 }),
      fc.nat(100_000),
      (size, parts, more) => {
        const all = Buffer.alloc(size, parts.join(''))
        const side = PREVIEW_BYTES_MAX / 2 + Math.min(more, size - PREVIEW_BYTES_MAX)
        const whole = previewText({ head: all, tail: Buffer.alloc(0), bytesTotal: size, artifactId: null })
        const head = all.subarray(0, side)
        const tail = all.subarray(Math.max(side, size - side))
        expect(previewText({ head, tail, bytesTotal: size, artifactId: null })).toBe(whole)
      },
    ),
    { numRuns: 40 },
  )
})
