import type { Chat } from './chat.ts'
import { ExitCode } from './exit-code.ts'
import { linesOf } from './lines-of.ts'
import { readStandardInput } from './standard-input.ts'

/**
 * Takes each line of standard input for a message, and answers one after the other. Resolves with the exit code of the
 * last one. What nobody can go on after, such as a run that is let go of, is the last one.
 */
export async function chatByLines(chat: Chat): Promise<number> {
  let last: number = ExitCode.ok
  for await (const line of linesOf(readStandardInput())) {
    if (line.trim() === '') continue
    const { code, isRefused } = await chat.send(line)
    last = code
    if (isRefused || code === ExitCode.cancelled || chat.openRun !== null) break
  }
  return last
}
