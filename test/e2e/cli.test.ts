import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { parseFrame } from '../../src/frames/parse-frame.ts'
import { decodeFixture, readBody, readStream } from '../decode.ts'
import { need } from '../need.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

function loopchart(
  args: readonly string[],
  input: string | Buffer = '',
): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/cli/main.ts', ...args], {
    cwd: root,
    input,
  })
  return { code: status, out: stdout.toString('utf8'), err: stderr.toString('utf8') }
}

const TWO_CALLS = 'fixtures/streams/two-calls.sse'

test('decode shows frames, then what the response came to', () => {
  const { code, out, err } = loopchart(['decode', TWO_CALLS])
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('output_text_delta    "Looking "')
  expect(out).toContain('completed  "resp_1"  4 items, 2 calls, 154 tokens')
  expect(out).toMatch(/ready +weather \{"city":"Oslo"\}/u)
})

test('decode --json prints every frame and nothing else', () => {
  const { code, out, err } = loopchart(['decode', '--json', TWO_CALLS])
  const frames = out.trimEnd().split('\n').map(parseFrame)
  expect([code, err]).toEqual([0, ''])
  expect(frames.map(({ type }) => type)).toEqual(decodeFixture('two-calls').frames.map(({ type }) => type))
})

test('decode reads standard input, also a JSON body', () => {
  expect(loopchart(['decode'], readStream('text')).out).toContain('completed')
  expect(loopchart(['decode', '-'], readBody('call')).out).toMatch(
    /response body\n\ncompleted {2}"resp_1" {2}2 items, 1 call/u,
  )
})

test('decode --strict says what the specification does not allow, and fails', () => {
  const file = 'fixtures/streams/quirk-reasoning-text-events.sse'
  expect(loopchart(['decode', file]).code).toBe(0)
  const strict = loopchart(['decode', '--strict', file])
  expect(strict.code).toBe(4)
  expect(strict.out).toContain('protocol_violation')
})

test('a response that failed gives exit code 4 and the reason', () => {
  const { code, out } = loopchart(['decode', 'fixtures/streams/cut-inside-event.sse'])
  expect(code).toBe(4)
  expect(out).toContain('stream_truncated')
})

test.for([
  ['nothing at all', [], '', 'standard input', 'stream_truncated'],
  ['a text', ['README.md'], '', 'README.md', 'stream_truncated'],
  ['random bytes', ['--json', '-'], Buffer.from('00ff8013e9c3287f', 'hex'), 'standard input', '_byte'],
] as const)('%s is a truncated stream and said to be no recording', ([, args, input, name, shown]) => {
  const { code, out, err } = loopchart(['decode', ...args], input)
  expect([code, err]).toEqual([
    4,
    `loopchart: ${name} is no recording of a response: there is no whole event in it; give one as it came from a provider\n`,
  ])
  expect(out).toContain(shown)
})

test('text that a terminal would obey is shown escaped', () => {
  const event = {
    type: 'response.output_text.delta',
    output_index: 0,
    content_index: 0,
    delta: '\u001b[2J\u009b31m\u202e',
  }
  const stream = `event: \u001b]0;x\u0007\ndata: ${JSON.stringify(event)}\n\n`
  for (const args of [['decode'], ['decode', '--json']]) {
    const { out } = loopchart(args, stream)
    // oxlint-disable-next-line no-control-regex -- the characters that must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/u)
    expect(out).toContain(String.raw`\u009b31m`)
  }
})

test.for([
  ['an unknown option', ['decode', '--wat'], /unknown option '--wat'/u],
  ['an unknown verb', ['dekode'], /unknown command 'dekode'.*did you mean decode/iu],
  ['too many arguments', ['decode', 'a', 'b'], /too many arguments/u],
  [
    'a file that is not there',
    ['decode', 'no/such/file.sse'],
    /cannot read no\/such\/file\.sse.*\[file_unreadable\]/u,
  ],
  ['a folder', ['decode', 'src'], /cannot read src.*\[file_unreadable\]/u],
] as const)('%s is one line on stderr and exit code 2', ([, args, message]) => {
  const { code, out, err } = loopchart(args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^loopchart: .*\n$/u)
  expect(err).toMatch(message)
})

test.for([
  [['decode', '--wat'], 'loopchart decode --help'],
  [['runs', 'prune', '--wat'], 'loopchart runs prune --help'],
  [['wat'], 'loopchart --help'],
  [['--wat'], 'loopchart --help'],
] as const)('what is wrong with %j names the help of its verb', ([args, help]) => {
  expect(loopchart(args).err).toMatch(new RegExp(`\\[usage\\]; see ${help}\n$`, 'u'))
})

test('a body is told from a stream whatever stands before its first brace', () => {
  for (const lead of ['\n', '\ufeff', ' '.repeat(200)]) {
    expect(loopchart(['decode'], lead + readBody('text').toString('utf8')).code, JSON.stringify(lead)).toBe(0)
  }
  expect(loopchart(['decode'], '[1]').out).toContain('malformed_event')
})

test('an output that cannot be written is one line on stderr', () => {
  const script = `"${process.execPath}" src/cli/main.ts decode --json ${TWO_CALLS} > /dev/full`
  const { status, stderr } = spawnSync('bash', ['-c', script], { cwd: root, encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^loopchart: cannot write the output: .* \[output_unwritable\]\n$/u)
})

test('a name that a terminal would obey is shown escaped', () => {
  const { err } = loopchart(['decode', 'a\u001b[31m\nb'])
  expect(err).toMatch(/^loopchart: cannot read a\\u001b\[31m b.*\n$/u)
})

test('standard input that cannot be read is said to be so', () => {
  const script = `"${process.execPath}" src/cli/main.ts decode < src`
  const { status, stderr } = spawnSync('bash', ['-c', script], { cwd: root, encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).toMatch(/^loopchart: cannot read -: .*\[file_unreadable\]\n$/u)
})

test('on a terminal, decode without a file says what it needs instead of waiting', (context) => {
  const program = `${process.execPath} src/cli/main.ts decode`
  need(context, 'script')
  const { status, stdout } = spawnSync('script', ['-qec', program, '/dev/null'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 20_000,
  })
  expect(status).toBe(2)
  expect(stdout).toContain('decode needs a recording: give its path, or pipe it in [usage]')
})

test('help and version go to stdout and are no error', () => {
  for (const args of [['--help'], ['decode', '--help'], ['--version'], []]) {
    const { code, out, err } = loopchart(args)
    expect([code, err], args.join(' ')).toEqual([0, ''])
    expect(out).not.toBe('')
  }
})

test('a reader that closes the pipe early is no error', () => {
  const script = `"${process.execPath}" src/cli/main.ts decode --json ${TWO_CALLS} | head -n 1; exit "\${PIPESTATUS[0]}"`
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: root, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  expect(parseFrame(stdout.trimEnd()).type).toBe('response_first_byte')
})
