import { expect, test } from 'vitest'

import { linesOf } from '../../src/cli/lines-of.ts'

async function all(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const given: string[] = []
  for await (const line of lines) given.push(line)
  return given
}

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  await Promise.resolve()
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test.for([1, 2, 3, 1000])(
  'lines are the same in pieces of %d bytes, also a last one without an end',
  async (size) => {
    const lines = await all(linesOf(chunked(Buffer.from('één\r\n\ntwo\nthr€e'), size)))
    expect(lines).toEqual(['één', '', 'two', 'thr€e'])
  },
)

test('an input that ends with a line has no line behind it', async () => {
  expect(await all(linesOf(chunked(Buffer.from('one\n'), 10)))).toEqual(['one'])
})

test.for([1, 1000])(
  'in pieces of %d bytes, a line that is not UTF-8 is refused, and those before it are given',
  async (size) => {
    const given: string[] = []
    const read = async (): Promise<void> => {
      const bytes = Buffer.concat([
        Buffer.from('één\n'),
        Buffer.from([0x74, 0xe9, 0x0a]),
        Buffer.from('two\n'),
      ])
      for await (const line of linesOf(chunked(bytes, size))) given.push(line)
    }
    await expect(read()).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('not UTF-8'),
    })
    expect(given).toEqual(['één'])
  },
)

test('a line without an end is given up and not kept for ever', async () => {
  const endless = chunked(Buffer.alloc(11 * 1024 * 1024, 'x'), 64 * 1024)
  await expect(all(linesOf(endless))).rejects.toMatchObject({ code: 'usage' })
})
