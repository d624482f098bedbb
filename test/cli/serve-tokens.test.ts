import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { readTokens } from '../../src/cli/serve-tokens.ts'
import { need } from '../need.ts'
import { makeFolder } from './run-cli.ts'

const TOKEN = '0123456789abcdef0123456789'

function tokenFile(text: string, mode = 0o600): string {
  const file = join(makeFolder({ tokens: text }), 'tokens')
  chmodSync(file, mode)
  return file
}

test('without a file there are two tokens that nobody guesses, new at each start', async () => {
  const [first, second] = await Promise.all([readTokens(undefined), readTokens(undefined)])
  expect(first.map(({ scopes }) => scopes)).toEqual([['read'], ['approve']])
  const all = [...first, ...second].map(({ token }) => token)
  expect(new Set(all).size).toBe(4)
  for (const token of all) expect(token).toMatch(/^[\w-]{43}$/u)
})

test('a file that is not there is made for its owner alone, and read back', async () => {
  const file = join(makeFolder(), 'tokens')
  const made = await readTokens(file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await readTokens(file)).toEqual(made)
})

test('each line names a scope and a token; a token alone may do all; one that may only read is always there', async () => {
  const lines = ['# ours', '', `run ${TOKEN}-run`, `${TOKEN}-all`, `approve\t${TOKEN}-app`]
  const tokens = await readTokens(tokenFile(`${lines.join('\r\n')}\n`))
  expect(tokens.map(({ scopes }) => scopes)).toEqual([['read'], ['run'], ['approve'], ['approve']])
  expect(tokens.slice(1).map(({ token }) => token)).toEqual([`${TOKEN}-run`, `${TOKEN}-all`, `${TOKEN}-app`])
})

test.for([
  ['that others may read', `read ${TOKEN}\n`, 0o604, /is open to others \(mode 604\); chmod 600/u],
  ['that a group may read', `read ${TOKEN}\n`, 0o640, /is open to others \(mode 640\)/u],
  ['that others may write', `read ${TOKEN}\n`, 0o602, /is open to others \(mode 602\)/u],
  ['with a short token', '# mine\nread hunter2-and-some-more\n', 0o600, /is wrong in line 2/u],
  ['with an unknown word', `admin ${TOKEN}\n`, 0o600, /is wrong in line 1/u],
  ['with two tokens in a line', `read ${TOKEN} ${TOKEN}\n`, 0o600, /is wrong in line 1/u],
  ['without a token', '# none\n', 0o600, /has no token/u],
  ['that is far too long', `# ${'x'.repeat(100_000)}\n`, 0o600, /is not a file of tokens/u],
] as const)(
  'a token file %s is refused, is left as it is, and nothing of it is said',
  async ([, text, mode, why]) => {
    const file = tokenFile(text, mode)
    const error: Error = await readTokens(file).then(
      () => new Error('it was taken'),
      (refused: Error) => refused,
    )
    expect(error).toMatchObject({ code: 'usage', message: expect.stringMatching(why) as string })
    expect(error.message).not.toMatch(/hunter2|0123456789/u)
    expect(readFileSync(file, 'utf8')).toBe(text)
  },
)

test('a link is not followed, also one that leads nowhere', async () => {
  const folder = makeFolder()
  symlinkSync(tokenFile(`read ${TOKEN}\n`), join(folder, 'link'))
  symlinkSync(join(folder, 'nothing'), join(folder, 'dangling'))
  for (const name of ['link', 'dangling']) {
    await expect(readTokens(join(folder, name))).rejects.toMatchObject({
      code: 'file_unreadable',
      message: expect.stringContaining('it is a link') as string,
    })
  }
  expect(existsSync(join(folder, 'nothing'))).toBe(false)
})

test('a file of somebody else is refused', async (context) => {
  need(context, 'root')
  const file = tokenFile(`read ${TOKEN}\n`)
  chownSync(file, 12_345, 12_345)
  await expect(readTokens(file)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('belongs to somebody else') as string,
  })
})

test('a folder is refused, and a file in a folder that is not there is not made', async () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'sub'), { mode: 0o700 })
  await expect(readTokens(join(folder, 'sub'))).rejects.toMatchObject({ code: 'usage' })
  await expect(readTokens(join(folder, 'no', 'tokens'))).rejects.toMatchObject({ code: 'output_unwritable' })
})
