import type { RunFlags } from './run-flags.ts'
import { shellWord } from './shell-word.ts'

const SCRIPTED =
  'its provider is gone with this process; to be able to go on with a run, serve the script with loopchart mock ' +
  'and give its --base-url'

/** How to go on with a run: the command, with what else was said on the command line that began it. */
export function resumeHint(flags: RunFlags, runId: string): string {
  if (flags.provider !== undefined) return SCRIPTED
  const given: Readonly<Record<string, string | undefined>> = {
    '--store': flags.store === true ? undefined : flags.store,
    '--agent': flags.agent,
    '--base-url': flags.baseUrl,
    '--api-key-file': flags.apiKeyFile,
    '--env-file': flags.envFile,
    '--tools': flags.tools,
    '--workspace': flags.workspace,
  }
  const named = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [name, shellWord(value)],
  )
  const switches = Object.entries({
    '--no-stream': flags.stream === false,
    '--trust': flags.trust,
    '--auto-edit': flags.autoEdit,
    '--no-sandbox': flags.sandbox === false,
    '--allow-unsandboxed': flags.allowUnsandboxed,
  }).flatMap(([name, isGiven]) => (isGiven === true ? [name] : []))
  return `go on with: ${['loopchart', 'resume', shellWord(runId), ...named, ...switches].join(' ')}`
}
