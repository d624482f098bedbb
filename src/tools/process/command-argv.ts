import { LoopchartError } from '../../errors.ts'
import { findProgram } from './find-program.ts'

/** What to run: a program with its arguments, or a text for bash. */
export type Command = { readonly argv: readonly string[] } | { readonly script: string }

/** The argv of a command. Throws `command_invalid` when there is nothing to run, or nothing that can be passed on. */
export function commandArgv(command: Command, workspaceRoot: string): readonly string[] {
  const argv = 'script' in command ? scriptArgv(command.script, workspaceRoot) : command.argv
  const [program = ''] = argv
  if (program === '') throw new LoopchartError('command_invalid', 'the command is empty')
  // The system ends an argument at the first NUL, so something else would run than was shown.
  if (argv.some((argument) => argument.includes('\0'))) {
    throw new LoopchartError('command_invalid', 'the command has a NUL character in it')
  }
  return argv
}

function scriptArgv(script: string, workspaceRoot: string): readonly string[] {
  if (script.trim() === '') throw new LoopchartError('command_invalid', 'the command is empty')
  const shell = findProgram('bash', workspaceRoot) ?? findProgram('sh', workspaceRoot)
  if (shell === null)
    throw new LoopchartError('command_not_found', 'there is neither bash nor sh on this machine')
  return [shell, '-c', script]
}
