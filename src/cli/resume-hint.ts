import type { RunFlags } from './run-flags.ts'

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
  }
  const named = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [name, quoted(value)],
  )
  const switches = flags.stream === false ? ['--no-stream'] : []
  return `go on with: ${['loopchart', 'resume', quoted(runId), ...named, ...switches].join(' ')}`
}

/** As a shell takes it for one word. */
function quoted(text: string): string {
  return /^[\w./:@%+=,#-]+$/u.test(text) && !text.startsWith('#')
    ? text
    : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
