import type { RunFlags } from './run-flags.ts'
import { shellWord } from './shell-word.ts'

const SCRIPTED =
  'its provider is gone with this process; to be able to go on with a run, serve the script with loopchart mock ' +
  'and give its --base-url'

/** How to go on with a run: the command, with what else was said on the command line that began it. */
export function resumeHint(flags: RunFlags, runId: string): string {
  return flags.provider === undefined ? `go on with: ${commandOf(['resume', runId], flags)}` : SCRIPTED
}

/** How to come back to a conversation. It depends on no memory of a provider: a scripted one may begin anew. */
export function chatHint(flags: RunFlags, id: string): string {
  const named = {
    '--provider': flags.provider,
    '--script': flags.script,
    '--price': flags.price,
    '--budget': flags.budget,
    '--compact-way': flags.compactWay,
  }
  const cursor = flags.crossRunCursor === true ? ['--cross-run-cursor'] : []
  return `come back with: ${commandOf(['chat', '--conversation', id, ...wordsOf(named), ...cursor], flags)}`
}

function commandOf(words: readonly string[], flags: RunFlags): string {
  const named = {
    '--store': flags.store === true ? undefined : flags.store,
    '--agent': flags.agent,
    '--base-url': flags.baseUrl,
    '--api-key-file': flags.apiKeyFile,
    '--env-file': flags.envFile,
    '--tools': flags.tools,
    '--workspace': flags.workspace,
    '--approve': flags.approve,
  }
  const switches = Object.entries({
    '--no-stream': flags.stream === false,
    '--trust': flags.trust,
    '--auto-edit': flags.autoEdit,
    '--no-sandbox': flags.sandbox === false,
    '--allow-unsandboxed': flags.allowUnsandboxed,
  }).flatMap(([name, isGiven]) => (isGiven === true ? [name] : []))
  return ['loopchart', ...words, ...wordsOf(named), ...switches].map(shellWord).join(' ')
}

function wordsOf(named: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
}
