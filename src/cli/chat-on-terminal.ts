import type { WriteStream } from 'node:tty'

import { LoopchartError } from '../errors.ts'
import { explainRun } from '../replay/explain-run.ts'
import { defaultStateFolder } from '../state-folder.ts'
import type { Chat } from './chat.ts'
import { commandsFrom, runCommand } from './chat-commands.ts'
import { ExitCode } from './exit-code.ts'
import { InputHistory, inputHistoryPath } from './input-history.ts'
import { LineEditor, type Typed } from './line-editor.ts'
import { oneLine } from './safe-text.ts'
import { terminalOn } from './terminal.ts'

const PROMPT = '> '
const OPEN_RUN = '[r]esume it, [a]bandon it, or [q]uit: '

/** Talks with a person at a terminal until they leave; resolves with the exit code. */
export async function chatOnTerminal(chat: Chat, terminal: WriteStream): Promise<number> {
  const told = new AbortController()
  const onTerminate = (): void => told.abort()
  process.on('SIGTERM', onTerminate)
  try {
    return await new TerminalChat(chat, terminal, told.signal).talk()
  } finally {
    process.off('SIGTERM', onTerminate)
  }
}

class TerminalChat {
  readonly #chat: Chat
  readonly #terminal: WriteStream
  /** Aborted when the process is told to end. */
  readonly #told: AbortSignal
  readonly #editor: LineEditor
  readonly #history: InputHistory
  /** How the last message ended. */
  #code: number = ExitCode.suspended

  constructor(chat: Chat, terminal: WriteStream, told: AbortSignal) {
    const { redactor, say } = chat.equipped
    this.#chat = chat
    this.#terminal = terminal
    this.#told = told
    this.#editor = new LineEditor({
      input: process.stdin,
      output: terminal,
      isLive: terminalOn(terminal, process.env).isLive,
      complete: commandsFrom,
    })
    this.#history = new InputHistory({
      path: inputHistoryPath(defaultStateFolder(process.env)),
      redactor,
      onUnusable: (reason) => say(`what is typed is not kept for the next time: ${reason}`),
    })
  }

  async talk(): Promise<number> {
    for (;;) {
      // Somebody who is gone cannot be asked what is to become of a run.
      if (this.#told.aborted || process.stdin.readableEnded) return this.#leave()
      if (this.#chat.openRun !== null) {
        if (!(await this.#settleOpenRun(this.#chat.openRun))) return this.#leave()
        // Going on with a run may have left it open again.
        continue
      }
      const typed = await this.#ask(PROMPT, this.#history.lines)
      if (typed.kind === 'interrupt') return ExitCode.cancelled
      if (typed.kind === 'end' || !(await this.#take(typed.text))) return this.#leave()
    }
  }

  /** False: nothing more is wanted. */
  async #take(text: string): Promise<boolean> {
    if (text.trim() === '') return true
    this.#history.add(text)
    if (text.startsWith('/') && !text.startsWith('//')) return this.#command(text)
    this.#code = (await this.#chat.send(text.startsWith('//') ? text.slice(1) : text)).code
    return true
  }

  async #command(text: string): Promise<boolean> {
    const { talk, store, budget } = this.#chat
    const { lines, moveTo, isQuit } = await runCommand(text, { talk, store, budget })
    this.#write(lines)
    if (moveTo !== undefined) await this.#chat.moveTo(moveTo)
    return isQuit !== true
  }

  /** Asks what is to become of a run that has not ended; false: it is left as it is. */
  async #settleOpenRun(runId: string): Promise<boolean> {
    this.#write([`run ${runId} has not ended${this.#whereIs(runId)}`])
    for (;;) {
      const typed = await this.#ask(OPEN_RUN)
      const word = typed.kind === 'line' ? typed.text.trim().toLowerCase() : 'quit'
      if (word === 'q' || word === 'quit') return false
      if (word === 'a' || word === 'abandon') {
        await this.#chat.abandon()
        return true
      }
      if (word === 'r' || word === 'resume') {
        await this.#resume()
        return true
      }
    }
  }

  async #resume(): Promise<void> {
    try {
      this.#code = (await this.#chat.resume()).code
    } catch (error) {
      if (!(error instanceof LoopchartError)) throw error
      // It can still be left for good.
      this.#chat.equipped.say(`${error.message} [${error.code}]`)
    }
  }

  #whereIs(runId: string): string {
    const { store } = this.#chat
    // One that was to begin when the process ended has no log.
    if (!store.list().some(({ runId: id }) => id === runId)) return ''
    const { state, waitsFor } = explainRun(store.read(runId))
    return `: ${[state, ...waitsFor].join(', ')}`
  }

  #ask(prompt: string, history: readonly string[] = []): Promise<Typed> {
    return this.#editor.ask(prompt, { history, signal: this.#told })
  }

  /** What is left open says more than that somebody left. */
  #leave(): number {
    return this.#chat.openRun === null ? ExitCode.ok : this.#code
  }

  #write(lines: readonly string[]): void {
    const { redactor } = this.#chat.equipped
    for (const line of lines) this.#terminal.write(`${oneLine(redactor.text(line))}\n`)
  }
}
