import { existsSync } from 'node:fs'

import type { StoredRun } from '../journal/run-store.ts'
import { ageOf } from './age-of.ts'
import { ExitCode } from './exit-code.ts'
import { ownerName } from './owner-name.ts'
import { oneLine, shorten } from './safe-text.ts'
import { loadSettings } from './settings.ts'
import { knownStorePath, openKnownStore, type StoreFlags } from './store-option.ts'
import { tableOf } from './table-of.ts'
import { writeJson } from './write-json.ts'

export interface ConversationsFlags extends StoreFlags {
  readonly json?: true
}

/** Lists stored conversations, the latest first; resolves with the exit code. */
export async function listConversations(flags: ConversationsFlags): Promise<number> {
  const settings = await loadSettings({}, process.env)
  const path = knownStorePath(flags, settings)
  // The place that nobody named is empty before the first one is kept there.
  if (typeof flags.store !== 'string' && !existsSync(path)) return show([], path, flags)
  const store = openKnownStore(flags, settings)
  try {
    const conversations = store.list().filter(({ kind }) => kind === 'conversation')
    return show(
      conversations.toSorted((a, b) => b.updatedAt - a.updatedAt),
      path,
      flags,
    )
  } finally {
    store.close()
  }
}

const MODEL_MAX = 40

function show(conversations: readonly StoredRun[], path: string, { json }: ConversationsFlags): number {
  if (json === true) writeJson(conversations.map(facts))
  else if (conversations.length === 0) {
    process.stderr.write(`no conversations are kept in ${oneLine(path)}\n`)
  } else {
    const rows = conversations.map(({ runId, turn, updatedAt, model, owner }) => [
      oneLine(runId),
      String(turn),
      ageOf(Date.now() - updatedAt),
      shorten(oneLine(model), MODEL_MAX),
      ownerName(owner),
    ])
    process.stdout.write(tableOf(['conversation', 'messages', 'age', 'model', 'owner'], rows))
  }
  return ExitCode.ok
}

function facts({ runId: id, turn: messages, startedAt, updatedAt, model, frames, owner }: StoredRun): object {
  return { id, messages, startedAt, updatedAt, model, frames, owner }
}
