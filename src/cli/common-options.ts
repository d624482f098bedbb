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

/** Says how requests are made, and by what provider when there is none. */
export function addRequestOptions(verb: Command): void {
  verb
    .option('--no-stream', 'ask for whole responses instead of streams')
    .option('--continuity <way>', 'previous_response_id, stateless or auto')
    .option('--limit <limits>', 'such as turns=20,tool_calls=32,tokens=100000,ms=60000')
    .option('--retries <times>', 'how often one request may be sent again')
    .option('--context-window <tokens>', 'how many tokens the model takes; what is sent is kept within it')
    .option('--provider <name>', 'scripted: a provider in this process, to try things with')
    .option('--script <file>', 'what the scripted provider says')
}

/** Says what holds for a conversation as a whole. */
export function addConversationOptions(verb: Command): void {
  verb
    .option('--price <prices>', 'what a million tokens cost, such as input=1.25,cached=0.125,output=10')
    .option('--budget <budget>', 'what the conversation may use up, such as tokens=200000,cost=2.5')
    .option('--cross-run-cursor', "go on from the provider's own memory of the last message while it has it")
    .option('--compact-way <way>', 'rules, model or provider: who sums up what has become too long')
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
  addLogOptions(verb)
  verb.addHelpText('after', EXIT_CODES)
}

/** Says what is logged, and where. */
export function addLogOptions(verb: Command): void {
  verb
    .option('--log-level <level>', 'error, warn, info, debug or trace; nothing is logged without it')
    .option('--log-file <file>', 'append the log to a file instead of standard error')
}

const EXIT_CODES = `
Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 a limit was reached, 4 failed,
5 a call needs an approval that nobody can give, 6 let go for now, 130 cancelled.
`

/** For an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
