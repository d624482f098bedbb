import type {
  CompactResource,
  CompactResponseMethodPublicBody,
  InputFileContent,
  InputImageContent,
  InputTextContent,
  Message,
  UserMessageItemParam,
} from '../../protocol/generated/openresponses.ts'
import { sealCompaction, type Compacted } from './compaction-seal.ts'
import type { ScriptCompaction } from './script.ts'
import { usageOf } from './usage-of.ts'

/** What a compaction is made from. The same plan always gives the same body. */
export interface CompactPlan {
  readonly request: CompactResponseMethodPublicBody
  readonly compaction: ScriptCompaction
  /** Of the whole conversation, in order. */
  readonly userMessages: readonly UserMessageItemParam[]
  readonly compacted: Compacted
  /** Where the compaction can be read again. */
  readonly place: string
  /** Counts compactions, from 1. */
  readonly number: number
  /** Seconds since 1970. */
  readonly createdAt: number
}

/** The window that stands for a conversation: what the user said, word for word, and one item with all the rest. */
export function compactResponse(plan: CompactPlan): CompactResource {
  const { request, compaction, userMessages, compacted, place, number, createdAt } = plan
  const messages = userMessages.map((message, at) => sentBack(message, `msg_cmp_${number}_${at + 1}`))
  const rest = {
    type: 'compaction',
    id: `cmp_${number}`,
    encrypted_content: sealCompaction(place, compacted),
  } as const
  const output = [...messages, rest]
  return {
    id: `resp_cmp_${number}`,
    object: 'response.compaction',
    created_at: createdAt,
    output,
    usage: usageOf(compaction, request, output),
  }
}

function sentBack({ id, content }: UserMessageItemParam, ownId: string): Message {
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content } as const] : content
  return {
    type: 'message',
    id: id ?? ownId,
    status: 'completed',
    role: 'user',
    content: parts.map(sentPart),
  }
}

type SentPart = InputTextContent | InputImageContent | InputFileContent

// The protocol gives images back with every field and files without those that are null.
function sentPart(part: Exclude<UserMessageItemParam['content'], string>[number]): SentPart {
  switch (part.type) {
    case 'input_text':
      return part
    case 'input_image':
      return { ...part, image_url: part.image_url ?? null, detail: part.detail ?? 'auto' }
    case 'input_file': {
      const { filename, file_url: url, ...rest } = part
      return {
        ...rest,
        ...(filename == null ? {} : { filename }),
        ...(url == null ? {} : { file_url: url }),
      }
    }
  }
}
