import { randomUUID } from 'node:crypto'

import { Chat } from './chat.ts'
import { chatByLines } from './chat-by-lines.ts'
import { chatOnTerminal } from './chat-on-terminal.ts'
import { checkFlags } from './check-flags.ts'
import { ExitCode } from './exit-code.ts'
import { openRunHint } from './open-run-hint.ts'
import { chatHint, resumeHint } from './resume-hint.ts'
import { countOf } from './run-figures.ts'
import type { RunFlags } from './run-flags.ts'
import { oneLine } from './safe-text.ts'
import { loadSettings } from './settings.ts'
import { withConversation, type OpenedConversation } from './with-conversation.ts'

/** Talks with an agent for `loopchart chat`; resolves with the exit code. */
export async function chatVerb(flags: RunFlags): Promise<number> {
  checkFlags(flags)
  const settings = await loadSettings(flags, process.env)
  const id = flags.conversation ?? randomUUID()
  return withConversation(id, flags, settings, async (opened) => {
    const chat = new Chat({
      ...opened,
      budget: settings.config.budget,
      resumeHint: (runId) => resumeHint(flags, runId),
      chatHint: (talkId) => chatHint(flags, talkId),
      isShown: flags.json !== true,
    })
    try {
      if (flags.json !== true) process.stderr.write(`${greeting(opened)}\n`)
      return await talkIn(chat, flags)
    } finally {
      await chat.close()
      if (flags.json !== true) process.stderr.write(`${oneLine(chatHint(flags, chat.talk.id))}\n`)
    }
  })
}

function greeting({ talk, isNew, equipped }: OpenedConversation): string {
  const what = isNew ? 'new' : countOf(talk.usage.messages, 'message')
  const how = equipped.terminal === null ? '' : '; /help lists commands, Ctrl-D leaves'
  return `conversation ${oneLine(talk.id)}, ${what}${how}`
}

async function talkIn(chat: Chat, flags: RunFlags): Promise<number> {
  const { terminal, say } = chat.equipped
  if (terminal !== null) return chatOnTerminal(chat, terminal)
  if (chat.openRun !== null) {
    say(openRunHint(flags, chat.talk.id, chat.openRun))
    return ExitCode.suspended
  }
  return chatByLines(chat)
}
