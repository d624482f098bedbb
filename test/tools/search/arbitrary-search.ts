import * as fc from 'fast-check'

import type { JsonObject } from '../../../src/protocol/json.ts'
import type { Tree } from './grep-in.ts'

const PLAIN = [
  'a.txt',
  'b c.ts',
  'a-b',
  'a',
  'main.ts',
  'ünï.md',
  '\u{1F600}.ts',
  '\u{E000}.ts',
  'co:lon:1:x',
]

const NAMES = [
  ...PLAIN,
  ...PLAIN,
  ...PLAIN,
  '-e',
  '--files',
  'new\nline.ts',
  '--\n',
  '.hidden.ts',
  '.env',
  'id_rsa',
  'key.pem',
  'node_modules',
  'back\\slash',
  'trailing.',
  'rtl\u{202e}.ts',
]

const COMMON = ['foo', 'FOO', 'bar', 'aaaa', 'ab', ' ', 'Sak', 'é', '9']

const PIECES: readonly (string | readonly number[])[] = [
  ...COMMON,
  ...COMMON,
  ...COMMON,
  '\t',
  '\v',
  '\r',
  '_',
  '-',
  '.',
  '(',
  '{2}',
  '\\',
  'É',
  'ß',
  'ſ',
  '\u{212a}',
  'σς',
  '٣',
  '\u{a0}',
  '\u{2028}',
  '\u{feff}',
  '\u{1F600}',
  'x'.repeat(600),
  'y'.repeat(66_000),
  [0xff],
  [0xc3],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f],
  [0x00],
]

const line = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 5 })
  .map((pieces) => Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))))

const content = fc
  .record({
    lines: fc.array(line, { minLength: 1, maxLength: 12 }),
    end: fc.constantFrom('\n', '\r\n'),
    isEnded: fc.boolean(),
    // A NUL byte counts only in the first 8 KiB.
    padding: fc.constantFrom(0, 0, 0, 0, 0, 8190, 8192, 9000),
  })
  .map(({ lines, end, isEnded, padding }) => {
    const parts = lines.flatMap((bytes) => [bytes, Buffer.from(end)])
    if (!isEnded) parts.pop()
    return Buffer.concat([Buffer.alloc(padding, 'z\n'), ...parts])
  })

const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'))

/** Files of all the kinds that an engine could take for something else. */
export const anyTree: fc.Arbitrary<Tree> = fc
  .array(fc.tuple(path, content), { minLength: 3, maxLength: 8, size: 'max' })
  .map((files) => {
    const tree: Record<string, Uint8Array> = {}
    for (const [at, bytes] of files) {
      // A name is a file or a folder, not both.
      const isTaken = Object.keys(tree).some(
        (other) => `${other}/`.startsWith(`${at}/`) || `${at}/`.startsWith(`${other}/`),
      )
      if (!isTaken) tree[at] = bytes
    }
    return tree
  })

const LETTERS = [
  'foo',
  'bar',
  'a',
  'b',
  'o',
  'k',
  's',
  'é',
  'σ',
  ' ',
  '-',
  '_',
  '9',
  '\u{1F600}',
  'ß',
  '.',
  '.',
]

const OTHERS = String.raw`^ $ \b \d \D \w \W \s \S \t \r \. \( [a-f] [^a] [^é] [\w-] [^\s] []a] [\t-\r] [σ-ω] [^\d\D]
  \x61 \x{e9} \u00e9 { } ] / && \x00 \xff [\x80-\x{10ffff}]`

const letters = fc.constantFrom(...LETTERS)

const classes = fc.constantFrom(...OTHERS.split(/\s+/))

const atom = fc.oneof(letters, letters, classes)

const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc
    .array(fc.array(tie('part'), { minLength: 0, maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((choices) => choices.map((parts) => parts.join('')).join('|')),
  part: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc
      .tuple(tie('part'), fc.constantFrom('*', '+', '?', '{2}', '{0,3}', '{2,}', '*?', '+?'))
      .map(([part, counts]) => `(?:${part})${counts}`),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?i:', '(?-i:', '(?<n>', '(?i)('), tie('pattern'))
      .map(([start, inner]) => `${start}${inner})`),
  ),
}))

const words = fc.oneof(
  { weight: 8, arbitrary: pattern },
  { weight: 1, arbitrary: letters },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 6 }) },
)

/** Arguments of all kinds. Some of the patterns are refused: also that must be the same. */
export const anyArguments: fc.Arbitrary<JsonObject> = fc.record({
  pattern: words.filter((text) => text.length > 0 && text.length <= 1000),
  literal: fc.constantFrom(false, false, false, false, true),
  ignore_case: fc.boolean(),
  context_lines: fc.constantFrom(0, 0, 1, 3),
  max_results: fc.constantFrom(1000, 1, 3),
  include: fc.constantFrom('*', '*', '*', '*', '*.ts', '**/*.ts', '{a,b c}*', '?', '[a-b]*', '.*', '*.*'),
})
