import { cutMiddle } from '../cut-middle.ts'
import { asciiOnly } from '../quoted.ts'
import { visibleText } from '../visible-text.ts'
import type { Command } from './command-argv.ts'

const HEAD_LINES = 40
const TAIL_LINES = 20
const LENGTH_MAX = 8000

const PARTLY = ', which covers secret files in a part of the workspace only'

/**
 * A command as a person is shown it before it runs: each argument on a line of its own, in quotes, so that none can pass
 * for two; or the text for bash with its number of lines. What is too long is cut in the middle, visibly. A sandbox
 * that covers a part of the secret files only says so.
 */
export function previewCommand(command: Command, isSandboxed: boolean, isViewComplete = true): string {
  const where = isSandboxed ? `in the sandbox${isViewComplete ? '' : PARTLY}` : 'with NO SANDBOX'
  if ('script' in command) {
    const script = command.script.replace(/\n$/, '')
    const count = script.split(/\r\n|\r|\n/u).length
    return `run ${counted(count, 'line')} of bash ${where}:\n${shorten(visibleText(script).split('\n'))}`
  }
  const lines = command.argv.map((argument) => asciiOnly(JSON.stringify(argument)))
  return `run a program with ${counted(Math.max(0, lines.length - 1), 'argument')} ${where}:\n${shorten(lines)}`
}

function shorten(lines: readonly string[]): string {
  if (lines.length <= HEAD_LINES + TAIL_LINES) return cutMiddle(lines.join('\n'), LENGTH_MAX, 'plain')
  const left = lines.slice(HEAD_LINES, -TAIL_LINES)
  const note = `[... ${counted(left.length, 'line')} with ${left.join('\n').length} characters not shown ...]`
  const shown = [...lines.slice(0, HEAD_LINES), note, ...lines.slice(-TAIL_LINES)]
  return cutMiddle(shown.join('\n'), LENGTH_MAX, 'plain')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
