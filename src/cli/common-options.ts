import type { Command } from 'commander'

/** Takes the exit code of a verb. */
export type Finish = (exitCode: number) => void

/** Says where requests go. */
export function addProviderOptions(verb: Command): void {
  verb
    .option('--base-url <url>', 'the endpoint up to /responses; OPENAI_BASE_URL without it')
    .option('--model <name>', 'the model; LOOPCHART_MODEL without it')
    .option('--api-key-file <file>', 'a file that holds the key; OPENAI_API_KEY without it')
    .option('--env-file <file>', 'a file with NAME=value lines, read as if they were set')
}

/** Says what the built-in tools are and what they may do. */
export function addToolOptions(verb: Command): void {
  verb
    .option('--tools <which>', 'builtin or none; builtin with --workspace or the scripted provider')
    .option('--workspace <folder>', 'what the built-in tools work on; the current folder without it')
    .option('--trust', 'trust the workspace for this run; loopchart trust does it for good')
    .option('--auto-edit', 'let plain files of the workspace be changed without asking')
    .option('--no-sandbox', 'run commands without a sandbox')
    .option('--allow-unsandboxed', 'let --approve all cover commands that run without a sandbox')
}

/** Says what is run, and how it is shown. */
export function addDriveOptions(verb: Command): void {
  verb
    .option('--approve <whom>', 'ask, all or none: who decides on calls that need approval')
    .option('--agent <file[#name]>', 'run the agent that a module of yours exports')
    .option('--json', 'print every frame as one line of JSON, and nothing else')
    .option('--log-level <level>', 'error, warn, info, debug or trace; nothing is logged without it')
    .option('--log-file <file>', 'append the log to a file instead of standard error')
    .addHelpText('after', EXIT_CODES)
}

const EXIT_CODES = `
Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 a limit was reached, 4 failed,
5 a call needs an approval that nobody can give, 6 let go for now, 130 cancelled.
`

/** For an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
