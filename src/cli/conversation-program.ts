import type { Command } from 'commander'

import {
  addConversationOptions,
  addDriveOptions,
  addProviderOptions,
  addRequestOptions,
  addToolOptions,
  type Finish,
} from './common-options.ts'
import type { ConversationsFlags } from './conversations-verb.ts'
import type { RunFlags } from './run-flags.ts'

/** Adds the verbs about conversations. */
export function addConversationVerbs(program: Command, finish: Finish): void {
  const verb = program
    .command('chat')
    .summary('talk with an agent, in a conversation that is kept')
    .description(
      'Talks with an agent. On a terminal, Ctrl-C cancels what is under way, Ctrl-D leaves, and /help lists commands.\n' +
        'Otherwise each line of standard input is a message. The conversation is kept, and you can come back to it.',
    )
    .option('--conversation <id>', 'the one to go on with, or to begin under this id; a new one without it')
    .option('--store [file]', 'the file to keep it in; LOOPCHART_STORE, or a file of your own, without it')
  addProviderOptions(verb)
  addRequestOptions(verb)
  addConversationOptions(verb)
  addToolOptions(verb)
  addDriveOptions(verb)
  verb.action(async (flags: RunFlags) => {
    const { chatVerb } = await import('./chat-verb.ts')
    finish(await chatVerb(flags))
  })
  program
    .command('conversations')
    .alias('chats')
    .summary('list stored conversations')
    .description('Lists the conversations of a store, the latest first.')
    .option(
      '--store <file>',
      'the file that they are kept in; LOOPCHART_STORE, or a file of your own, without it',
    )
    .option('--json', 'print it as JSON')
    .action(async (flags: ConversationsFlags) => {
      const { listConversations } = await import('./conversations-verb.ts')
      finish(await listConversations(flags))
    })
}
