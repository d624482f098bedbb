import { beforeEach, expect, test, vi } from 'vitest'

import { createProgram } from '../../src/cli/program.ts'
import { makeFolder } from './run-cli.ts'

beforeEach(() => {
  vi.stubEnv('XDG_CONFIG_HOME', '/nowhere')
  vi.stubEnv('XDG_STATE_HOME', makeFolder())
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'LOOPCHART_MODEL']) vi.stubEnv(name, '')
  return () => vi.unstubAllEnvs()
})

const SCRIPTED = ['--provider', 'scripted'] as const
const AWAY = ['--base-url', 'http://127.0.0.1:9/v1'] as const

test.for([
  ['run without a provider', ['run', 'hi'], 'provider_missing', /there is no provider.*--provider scripted/u],
  ['run without a model', ['run', 'hi', ...AWAY], 'provider_missing', /no model is named.*--model/u],
  ['run without a word', ['run', '  ', ...SCRIPTED], 'usage', /the prompt is empty/u],
  ['another provider', ['run', 'hi', '--provider', 'openai'], 'usage', /must be scripted.*--base-url/u],
  ['two providers', ['run', 'hi', ...SCRIPTED, ...AWAY], 'usage', /contradict each other/u],
  ['a script for nobody', ['run', 'hi', '--script', 'x.json'], 'usage', /needs --provider scripted/u],
  [
    'a script that is not there',
    ['run', 'hi', ...SCRIPTED, '--script', 'x'],
    'file_unreadable',
    /cannot read x: /u,
  ],
  [
    'a script that is none',
    ['run', 'hi', ...SCRIPTED, '--script', 'package.json'],
    'script_invalid',
    /not valid/u,
  ],
  [
    'a script that is no JSON',
    ['run', 'hi', ...SCRIPTED, '--script', 'README.md'],
    'script_invalid',
    /not JSON/u,
  ],
  [
    'a workspace that is not there',
    ['run', 'hi', ...SCRIPTED, '--workspace', 'no/such'],
    'usage',
    /no folder no\/such/u,
  ],
  [
    'an attachment that is not there',
    ['run', 'hi', ...SCRIPTED, '--attach', 'no'],
    'file_unreadable',
    /read no: /u,
  ],
  [
    'a folder as attachment',
    ['run', 'hi', ...SCRIPTED, '--attach', 'src'],
    'file_unreadable',
    /cannot read src/u,
  ],
  [
    'an attachment without an end',
    ['run', 'hi', ...SCRIPTED, '--attach', '/dev/zero'],
    'file_unreadable',
    /10485760/u,
  ],
  ...[
    ['--price', 'input=1,output=2'],
    ['--budget', 'tokens=5'],
    ['--cross-run-cursor'],
    ['--compact-way', 'model'],
  ].map(
    (flags) =>
      [
        `${flags[0]} for a run of its own`,
        ['run', 'hi', ...SCRIPTED, ...flags],
        'usage',
        new RegExp(`${flags[0]} is about a conversation; add --conversation ID`, 'u'),
      ] as const,
  ),
  [
    'a budget of cost without prices',
    ['chat', ...SCRIPTED, '--budget', 'cost=2'],
    'usage',
    /needs prices: give --price/u,
  ],
  [
    'a conversation without a name',
    ['chat', ...SCRIPTED, '--conversation', ' '],
    'usage',
    /must not be empty/u,
  ],
  ['chat without a provider', ['chat'], 'provider_missing', /there is no provider/u],
  ['chat with two providers', ['chat', ...SCRIPTED, ...AWAY], 'usage', /contradict each other/u],
  [
    'a fork with two changes',
    ['fork', 'x', '--at', '3', '--keep-history', '--model', 'm'],
    'usage',
    /--model and --keep-history are two changes/u,
  ],
  [
    'a wrong log level',
    ['run', 'hi', ...SCRIPTED, '--log-level', 'loud'],
    'usage',
    /--log-level: log_level must be/u,
  ],
  [
    'a log file for no level',
    ['run', 'hi', ...SCRIPTED, '--log-file', 'x'],
    'usage',
    /--log-file has no effect without a level: add --log-level info/u,
  ],
  [
    'a limit that is given twice',
    ['run', 'hi', ...SCRIPTED, '--limit', 'turns=1,turns=2'],
    'usage',
    /--limit: turns is given twice/u,
  ],
  ['standard input for two logs', ['diff', '-', '-'], 'usage', /standard input can be read only once/u],
  [
    'an agent that is not there',
    ['run', 'hi', '--agent', 'no.ts'],
    'file_unreadable',
    /the agent of no\.ts: there is no file \/\S*\/no\.ts; give the path/u,
  ],
  [
    'a folder as agent',
    ['run', 'hi', '--agent', 'src/cli'],
    'file_unreadable',
    /the agent of src\/cli: \/\S*\/src\/cli is a folder; give the path/u,
  ],
  [
    'a module without an agent',
    ['run', 'hi', '--agent', 'src/errors.ts'],
    'agent_invalid',
    /no agent as its default/u,
  ],
  [
    'a flag beside --agent',
    ['run', 'hi', '--agent', 'a.ts', '--model', 'x'],
    'usage',
    /--model has no effect/u,
  ],
  [
    'a switch beside --agent',
    ['run', 'hi', '--agent', 'a.ts', '--no-stream'],
    'usage',
    /--no-stream has no effect/u,
  ],
  [
    'a key beside --agent',
    ['run', 'hi', '--agent', 'a.ts', '--api-key-file', 'x'],
    'usage',
    /--api-key-file has no effect/u,
  ],
  [
    'a workspace without tools',
    ['run', 'hi', ...AWAY, '--model', 'm', '--tools', 'none', '--workspace', '.'],
    'usage',
    /--workspace has no effect without tools, says --tools/u,
  ],
  ...['--trust', '--auto-edit', '--no-sandbox', '--allow-unsandboxed'].map(
    (flag) =>
      [
        `${flag} without tools`,
        ['run', 'hi', ...AWAY, '--model', 'm', flag],
        'usage',
        new RegExp(`${flag} has no effect without tools; give --workspace DIR`, 'u'),
      ] as const,
  ),
  ...[['--trust'], ['--auto-edit'], ['--no-sandbox'], ['--workspace', '.'], ['--tools', 'none']].map(
    (flags) =>
      [
        `${flags[0]} beside --agent`,
        ['run', 'hi', '--agent', 'a.ts', ...flags],
        'usage',
        new RegExp(`${flags[0]} has no effect with --agent`, 'u'),
      ] as const,
  ),
  [
    'tools that are not there',
    ['run', 'hi', ...SCRIPTED, '--tools', 'all'],
    'usage',
    /--tools: tools must be builtin or none$/u,
  ],
  ['a list and a folder', ['trust', '.', '--list'], 'usage', /give it alone/u],
  ['trust for nothing', ['trust', 'no/such'], 'usage', /no folder no\/such/u],
  ['a folder that was not trusted', ['trust', '--remove', 'src'], 'usage', /src is not trusted; .*--list/u],
  ['an env file that is not there', ['models', '--env-file', 'no'], 'file_unreadable', /cannot read no: /u],
  ['models of nobody', ['models'], 'provider_missing', /no provider to ask/u],
  ['a probe without a model', ['doctor', ...AWAY], 'provider_missing', /give --model too/u],
  [
    'an unknown format',
    ['diagram', '--format', 'png'],
    'usage',
    /must be svg, mermaid, scxml, json or ascii/u,
  ],
  ['a port that is none', ['mock', '--port', '99999'], 'usage', /from 0 to 65535/u],
] as const)('%s is refused with a code and what to do', async ([, args, code, message]) => {
  const program = createProgram('0', 'loopchart', () => undefined)
  const parsing = program.parseAsync([...args], { from: 'user' })
  await expect(parsing).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
})
