import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import type { Script } from '../../src/provider/scripted/script.ts'
import {
  cleanEnv,
  cli,
  framesIn,
  MAIN,
  makeFolder,
  ROOT,
  saying,
  scriptFile,
  startCli,
} from '../cli/run-cli.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const SCRIPTED = ['--provider', 'scripted'] as const
// oxlint-disable-next-line no-control-regex -- the characters that must not be there
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u200b]/u

test('run works on the files of a workspace and gives the answer on stdout', async () => {
  const workspace = makeFolder({ 'a.md': 'one two three', 'b.txt': 'four' })
  const { code, out, err } = await cli(['run', 'count', ...SCRIPTED, '--workspace', workspace])
  expect(code).toBe(0)
  expect(out).toContain('That makes 4 words (3 + 1).')
  expect(err).toMatch(/read_file \{"path":"a\.md"\} -> ok, \d+ ms\n/u)
  expect(err).toMatch(/turn 1: requesting > streaming > assembling > choosing > running > followingUp\n/u)
  expect(err).toMatch(
    /done \(completed\): 3 turns, 3 calls, [\d,]+ tokens \(\d+ in, \d+ out\), [\d.]+ m?s\n$/u,
  )
})

test('run --json prints frames and nothing else, from run_started to run_ended', async () => {
  const { code, out, err } = await cli([
    'run',
    'hi',
    ...SCRIPTED,
    '--script',
    scriptFile(saying('Hello.')),
    '--tools',
    'none',
    '--json',
  ])
  const frames = framesIn(out)
  expect([code, err]).toEqual([0, ''])
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => index))
  expect([frames[0]?.type, frames.at(-1)]).toEqual([
    'run_started',
    expect.objectContaining({ type: 'run_ended', state: 'done', text: 'Hello.' }),
  ])
})

test('the prompt may come from standard input', async () => {
  const script = scriptFile(saying('Hello.'))
  for (const args of [[], ['-']]) {
    const { out } = await cli(['run', ...args, ...SCRIPTED, '--script', script, '--json'], {
      input: 'from a pipe',
    })
    expect(framesIn(out)[0]).toMatchObject({ type: 'run_started', input: 'from a pipe' })
  }
})

test('run talks to the provider at --base-url with the key of a file', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [saying('Over HTTP.')] })
  const key = join(makeFolder({ key: 'key-of-the-file\n' }), 'key')
  const args = ['run', 'hi', '--base-url', provider.url, '--model', 'some-model', '--api-key-file', key]
  const { code, out } = await cli(args)
  await provider.close()
  expect([code, out]).toEqual([0, 'Over HTTP.\n'])
  expect(provider.requests[0]).toMatchObject({
    headers: { authorization: 'Bearer key-of-the-file' },
    body: { model: 'some-model', stream: true },
  })
})

test('what the config file and variables say goes into requests', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [saying('Whole.')] })
  const env = {
    OPENAI_BASE_URL: provider.url,
    LOOPCHART_MODEL: 'm',
    LOOPCHART_MAX_OUTPUT_TOKENS: '99',
    LOOPCHART_REASONING_EFFORT: 'low',
    LOOPCHART_VERBOSITY: 'high',
    LOOPCHART_STREAM: 'off',
  }
  const { code, out } = await cli(['run', 'hi'], { env })
  await provider.close()
  expect([code, out]).toEqual([0, 'Whole.\n'])
  expect(provider.requests[0]?.body).toMatchObject({
    max_output_tokens: 99,
    reasoning: { effort: 'low' },
    text: { verbosity: 'high' },
    stream: false,
  })
})

test('--no-stream asks for whole responses and --continuity stateless sends the whole conversation', async () => {
  const turns: Script['turns'] = [
    { output: [{ type: 'function_call', name: 'no_such_tool', arguments: {} }] },
    saying('Done.'),
  ]
  const provider = await startScriptedProvider({ v: 1, turns })
  const where = ['--base-url', provider.url, '--model', 'm']
  const { code, out, err } = await cli(['run', 'hi', ...where, '--no-stream', '--continuity', 'stateless'])
  await provider.close()
  expect([code, out]).toEqual([0, 'Done.\n'])
  expect(err).toContain('-> unknown_tool')
  const bodies = provider.requests.map(({ body }) => body)
  expect(bodies.map(({ stream }) => stream)).toEqual([false, false])
  expect(bodies[1]?.['previous_response_id'] ?? null).toBe(null)
  expect(bodies[1]?.['input']).toHaveLength(3)
})

test('attached files go with the prompt: text as text, images as images, the rest as files', async () => {
  const folder = makeFolder({
    'a.txt': 'some text',
    'b.png': new Uint8Array([137, 80]),
    'c.bin': new Uint8Array([0, 255]),
  })
  const files = ['a.txt', 'b.png', 'c.bin'].flatMap((name) => ['--attach', join(folder, name)])
  const { out } = await cli([
    'run',
    'look',
    ...SCRIPTED,
    '--script',
    scriptFile(saying('Yes.')),
    ...files,
    '--json',
  ])
  expect(framesIn(out)[0]).toMatchObject({
    input: [
      { type: 'input_text', text: 'look' },
      { type: 'input_text', text: 'File "a.txt":\n\nsome text' },
      { type: 'input_image', image_url: 'data:image/png;base64,iVA=' },
      { type: 'input_file', filename: 'c.bin', file_data: 'data:application/octet-stream;base64,AP8=' },
    ],
  })
})

test('a limit ends a run with exit code 3 and says which', async () => {
  const { code, err } = await cli(['run', 'count', ...SCRIPTED, '--limit', 'turns=1'])
  expect(code).toBe(3)
  expect(err).toContain('limit reached: turns, 1 of 1')
  expect(err).toMatch(/^loopchart: .*\[turns\]; raise it with --limit turns=N$/mu)
})

test('a response that fails gives exit code 4, what the provider said, and a code', async () => {
  const failed = scriptFile({
    end: { status: 'failed', code: 'invalid_prompt', message: 'that will not do' },
  })
  const { code, err } = await cli(['run', 'hi', ...SCRIPTED, '--script', failed])
  expect(code).toBe(4)
  expect(err).toMatch(/^loopchart: .*that will not do.*\[invalid_prompt\]$/mu)
})

test('a provider that asks for a long wait lets the run go with exit code 6, and says until when', async () => {
  const later = { fault: { type: 'status', status: 429, headers: { 'retry-after': '3600' } } } as const
  const { code, out, err } = await cli([
    'run',
    'hi',
    ...SCRIPTED,
    '--script',
    scriptFile(later),
    '--tools',
    'none',
    '--json',
  ])
  expect(code).toBe(6)
  expect(framesIn(out).some(({ type }) => type === 'run_ended')).toBe(false)
  expect(err).toMatch(/^loopchart: .*run this again after \d{4}-.*Z \[retry_later\]\n$/u)
})

test('a connection that is refused is one line with a code and what to do', async () => {
  const provider = await startScriptedProvider({ v: 1, turns: [] })
  await provider.close()
  const { code, err } = await cli([
    'run',
    'hi',
    '--base-url',
    provider.url,
    '--model',
    'm',
    '--retries',
    '0',
    '--json',
  ])
  expect(code).toBe(4)
  expect(err).toMatch(
    /^loopchart: http:\/\/127\.0\.0\.1.*nothing listens there.*check that the server runs.*\[connect_failed\]\n$/u,
  )
})

test('a model that the provider does not know is one line with a code and what to do', async () => {
  const body = {
    error: {
      message: 'The model `m` does not exist',
      code: 'model_not_found',
      type: 'invalid_request_error',
    },
  }
  const provider = await startScriptedProvider({
    v: 1,
    turns: [{ fault: { type: 'status', status: 404, body } }],
  })
  const { code, err } = await cli(['run', 'hi', '--base-url', provider.url, '--model', 'm', '--json'])
  await provider.close()
  expect(code).toBe(4)
  expect(err).toMatch(
    /^loopchart: .*does not exist.*check the base URL and the name of the model \[(?:model_not_found|endpoint_not_found)\]\n$/u,
  )
})

test('without a provider, run says so and offers the scripted one', async () => {
  const { code, out, err } = await cli(['run', 'hi'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^loopchart: there is no provider: .*--provider scripted \[provider_missing\]\n$/u)
})

test.for([
  ['no prompt', ['run', ...SCRIPTED], '', /the prompt is empty.*\[usage\]/u],
  [
    'a prompt that --store took',
    ['run', ...SCRIPTED, '--store', 'hello'],
    '',
    /the prompt is empty.*; "hello" was taken for the file of --store.* \[usage\]/u,
  ],
  [
    'a prompt that is not UTF-8',
    ['run', ...SCRIPTED],
    Buffer.from([0x68, 0xe9]),
    /the prompt on standard input is not UTF-8.*\[usage\]/u,
  ],
  [
    'a prompt that is too long',
    ['run', ...SCRIPTED],
    'x'.repeat(10 * 1024 * 1024 + 1),
    /more than 10 MiB, the most that a prompt may have; make it shorter.* a tool can read it.*\[usage\]/u,
  ],
  ['an unknown flag', ['run', 'hi', '--tool', 'builtin'], '', /unknown option '--tool'/u],
  [
    'a wrong limit',
    ['run', 'hi', ...SCRIPTED, '--limit', 'turns'],
    '',
    /'turns' is not a limit.*turns=20.*\[usage\]/u,
  ],
] as const)('run with %s is one line on stderr and exit code 2', async ([, args, input, message]) => {
  const { code, out, err } = await cli(args, { input })
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(/^loopchart: .*\n$/u)
  expect(err).toMatch(message)
})

test('a log that cannot be written is said before anything is sent', async () => {
  const { code, err } = await cli([
    'run',
    'hi',
    ...SCRIPTED,
    '--log-level',
    'info',
    '--log-file',
    '/no/such/log',
  ])
  expect(code).toBe(2)
  expect(err).toMatch(/^loopchart: cannot write the log .*\[output_unwritable\]\n$/u)
})

test('T20: what is not a terminal gets no escape sequence, whatever the model writes', async () => {
  const hostile = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202eevil\u200b\u0000\r'
  const call = { type: 'function_call', name: hostile.slice(0, 9), arguments: { path: hostile } } as const
  const script = scriptFile({ output: [{ type: 'message', text: hostile }, call] }, saying(hostile))
  for (const more of [[], ['--json'], ['--no-stream']]) {
    const { code, out, err } = await cli(['run', 'hi', ...SCRIPTED, '--script', script, ...more])
    expect(code).toBe(0)
    expect(out + err).not.toMatch(CONTROLS)
    expect(out).toContain(String.raw`\u001b[2J`)
  }
})

test('a text that breaks off and is written again is shown twice, with why between', async () => {
  const cut = {
    output: [{ type: 'message', text: ['Hal', 'f'] }],
    fault: { type: 'truncate', at_byte: 2500 },
  } as const
  const { code, out, err } = await cli([
    'run',
    'hi',
    ...SCRIPTED,
    '--script',
    scriptFile(cut, saying('Half and whole.')),
  ])
  expect(code).toBe(0)
  expect(out).toMatch(/Half and whole\.\n$/u)
  expect(err).toMatch(/sent again in \d/u)
})

test('a reader that closes the pipe early is no error', () => {
  const script = `"${process.execPath}" "${MAIN}" run hi --provider scripted --tools none --json | head -n 1; exit "\${PIPESTATUS[0]}"`
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    cwd: ROOT,
    encoding: 'utf8',
    env: cleanEnv(),
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(framesIn(stdout)[0]?.type).toBe('run_started')
})

const STALLED = {
  output: [{ type: 'message', text: ['Wait', ' for', ' it'] }],
  fault: { type: 'stall', at_byte: 3000 },
} as const

test.for(['SIGINT', 'SIGTERM'] as const)(
  'K11: %s cancels a run, which settles and gives exit code 130',
  async (signal) => {
    const running = startCli([
      'run',
      'hi',
      ...SCRIPTED,
      '--script',
      scriptFile(STALLED),
      '--tools',
      'none',
      '--json',
    ])
    await running.until('out', /responding\.streaming/u)
    running.child.kill(signal)
    const { code, out } = await running.done
    expect(code).toBe(130)
    expect(framesIn(out).at(-1)).toMatchObject({
      type: 'run_ended',
      state: 'cancelled',
      unanswered_calls: [],
    })
  },
)

test('a limit that --limit does not have is not said to be raised with it', async () => {
  const listing = { output: [{ type: 'function_call', name: 'list_dir' }] } as const
  const script = scriptFile(listing, listing, listing, listing)
  const { code, err } = await cli(['run', 'list', ...SCRIPTED, '--script', script])
  expect(code).toBe(3)
  expect(err).toMatch(/^loopchart: .*\[no_progress\]$/mu)
})

// What looks at its standard input, as npx does, and hands it on.
const PASSING =
  "process.stdin.isTTY; require('node:child_process').spawnSync(process.execPath, process.argv.slice(1), { stdio: 'inherit' })"

test.for([
  ['', MAIN],
  [', also through another program', `-e "${PASSING}" ${MAIN}`],
] as const)('a prompt that is slow to come is waited for%s', ([, program]) => {
  const command = `(sleep 1; echo hi) | "${process.execPath}" ${program} run --provider scripted --script ${scriptFile(saying('Hello.'))}`
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', env: cleanEnv() })
  expect(stderr).toContain('done (completed)')
  expect(stdout).toBe('Hello.\n')
})
