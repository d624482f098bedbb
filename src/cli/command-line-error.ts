import { CommanderError } from 'commander'

/** What the parser of the command line found, and at which verb. */
export class CommandLineError extends CommanderError {
  /** As it is typed, such as `loopchart runs prune`. */
  readonly verb: string

  constructor({ exitCode, code, message }: CommanderError, verb: string) {
    super(exitCode, code, message)
    this.verb = verb
  }
}
