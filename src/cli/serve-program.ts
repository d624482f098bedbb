import type { Command } from 'commander'

import {
  addLogOptions,
  addProviderOptions,
  addRequestOptions,
  addToolOptions,
  collect,
  type Finish,
} from './common-options.ts'
import type { InspectFlags } from './inspect-verb.ts'
import type { ServeFlags } from './serve-verb.ts'

const STORE = 'the file that runs are kept in; LOOPCHART_STORE, or a file of your own, without it'
const PORT = 'any free one without it'

/** Adds the verbs that are reached over HTTP. */
export function addServeVerbs(program: Command, finish: Finish): void {
  addServe(program, finish)
  addInspect(program, finish)
}

function addServe(program: Command, finish: Finish): void {
  const verb = program
    .command('serve')
    .summary('serve agents over HTTP, with a page to watch and approve')
    .description(
      'Serves agents over HTTP on this machine, and prints the address of the page: first one that may only read, then\n' +
        'one that may approve. Runs that had not ended go on. SIGINT and SIGTERM let go of running ones and end it; they\n' +
        'go on at the next start. A second signal ends it at once.',
    )
    .option(
      '--agent <file[#name]>',
      'serve an agent that a module of yours exports; may be repeated',
      collect,
    )
    .option('--port <number>', PORT)
    .option('--host <address>', 'the address to listen on; 127.0.0.1 without it')
    .option('--allow-remote', 'let others reach it: with a --host that they can reach, and a --token-file')
    .option(
      '--allow-host <host>',
      'a further value of Host to let in, such as that of a proxy; may be repeated',
      collect,
    )
    .option(
      '--token-file <file>',
      'who may do what, a line each; made if it is not there, only for you to read',
    )
    .option('--store <file>', STORE)
  addProviderOptions(verb)
  addRequestOptions(verb)
  addToolOptions(verb)
  verb.option('--json', 'print the addresses and tokens as one line of JSON')
  addLogOptions(verb)
  verb
    .addHelpText(
      'after',
      '\nExit codes: 0 ended by a signal, 2 wrong usage, 6 or 130 ended at once by a second one.\n',
    )
    .action(async (flags: ServeFlags) => {
      const { serveVerb } = await import('./serve-verb.ts')
      finish(await serveVerb(flags))
    })
}

function addInspect(program: Command, finish: Finish): void {
  program
    .command('inspect')
    .summary('show a run on a page: its chart, its timeline, everything it did')
    .description(
      'Serves the page over a log on this machine, read-only, and prints its address. A stored run that another process\n' +
        'drives is followed, and the page lists the other runs of its store too. Ends at SIGINT or SIGTERM.',
    )
    .argument('<log>', 'a file of JSON lines, - for standard input, or a stored run')
    .option('--store <file>', STORE)
    .option('--port <number>', PORT)
    .option('--json', 'print the address as one line of JSON')
    .option(
      '--ndjson <file>',
      'instead of the page: write the inspection events to a file, - for standard output',
    )
    .option(
      '--stately <url>',
      'instead of the page: send them to a Stately inspector, ws:// or wss://; what the run holds leaves this process',
    )
    .action(async (log: string, flags: InspectFlags) => {
      const { inspectVerb } = await import('./inspect-verb.ts')
      finish(await inspectVerb(log, flags))
    })
}
