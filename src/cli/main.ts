#!/usr/bin/env node
// The command line: argv in, text and an exit code out. What the verbs do lives in the rooms they call.
import { createRequire } from 'node:module'

import { Command, CommanderError } from 'commander'

import { LoopchartError } from '../errors.ts'
import { escapeUnsafe } from '../frames/format-frame.ts'
import { decode } from './decode.ts'
import { ExitCode } from './exit-code.ts'

const { version }: { version: string } = createRequire(import.meta.url)('loopchart/package.json')

// A reader such as `head` that has seen enough closes the pipe; that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(ExitCode.ok)
  process.stderr.write(`loopchart: cannot write the output: ${error.message} [output_unwritable]\n`)
  process.exit(ExitCode.internal)
})

const program = new Command('loopchart')
  .description('The Open Responses agent loop as a statechart.')
  .version(version)
  .exitOverride()
  .configureOutput({ outputError: () => undefined })

program
  .command('decode')
  .summary('show what a recorded provider response holds')
  .description(
    'Decodes a recorded provider response, an SSE stream or a JSON body, and shows its frames and calls.',
  )
  .argument('[file]', 'the recording; standard input when it is left out or -')
  .option('--json', 'print every frame as one line of JSON')
  .option('--strict', 'validate against the specification instead of what providers are known to send')
  .exitOverride()
  .configureOutput({ outputError: () => undefined })
  .action(async (file: string | undefined, options: { json?: true; strict?: true }) => {
    process.exitCode = await decode({
      file: file ?? '-',
      isJson: options.json === true,
      isStrict: options.strict === true,
      output: process.stdout,
    })
  })

try {
  if (process.argv.length <= 2) program.outputHelp()
  else await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** One line on stderr: what happened, the code, what to do. */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version arrive here too, already printed.
    if (error.exitCode === 0) return ExitCode.ok
    const message =
      error.code === 'commander.help' ? 'there is no such verb' : error.message.replace(/^error: /u, '')
    process.stderr.write(`loopchart: ${oneLine(message)} [usage]; see loopchart --help\n`)
    return ExitCode.usage
  }
  if (error instanceof LoopchartError) {
    process.stderr.write(`loopchart: ${oneLine(error.message)} [${error.code}]\n`)
    return error.code === 'usage' || error.code === 'file_unreadable' ? ExitCode.usage : ExitCode.failed
  }
  process.stderr.write(`loopchart: internal error, please report it: ${String(error)}\n`)
  return ExitCode.internal
}

/** Messages quote what somebody typed, a file's name for one: no line end and nothing that a terminal obeys. */
function oneLine(message: string): string {
  return escapeUnsafe(JSON.stringify(message.trim().replaceAll(/\n/gu, ' ')))
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
}
