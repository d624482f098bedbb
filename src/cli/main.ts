#!/usr/bin/env node
// The command line: argv in, text and an exit code out. What the verbs do lives in the rooms they call.
import { createRequire } from 'node:module'

import { LoopchartError } from '../errors.ts'
import { ExitCode } from './exit-code.ts'
import { leaveForNobody } from './listen-to-signals.ts'
import { nodeFault } from './node-version.ts'
import { createProgram } from './program.ts'
import { report } from './report.ts'

const LEFT_OPEN_MS = 500

const { version, engines }: { version: string; engines: { node: string } } = createRequire(import.meta.url)(
  'loopchart/package.json',
)

// A reader such as `head` that has seen enough closes the pipe; that is not an error. A run that is kept says how to go on.
let isLeaving = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') {
    isLeaving ||= leaveForNobody()
    return isLeaving ? undefined : process.exit(ExitCode.ok)
  }
  process.stderr.write(`loopchart: cannot write the output: ${error.message} [output_unwritable]\n`)
  process.exit(ExitCode.internal)
})
// Nobody is left to be told.
process.stderr.on('error', () => undefined)

// From `npm start` there is no loopchart on the path.
const command = process.env['npm_lifecycle_event'] === undefined ? 'loopchart' : 'npx loopchart'
const program = createProgram(version, command, (exitCode) => {
  process.exitCode = exitCode
})

// Version and help are told by any Node.
program.hook('preAction', () => {
  const fault = nodeFault(process.versions.node, engines.node)
  if (fault !== null) throw new LoopchartError('usage', fault)
})

try {
  if (process.argv.length <= 2) program.outputHelp()
  else await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

// What a module or a tool of the user's has left open, a server or a wait that nobody can abort, must not hold a
// command that is over. With nothing left, this timer does not hold it either.
setInterval(() => {
  if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit()
}, LEFT_OPEN_MS).unref()
