import { isUtf8 } from 'node:buffer'

import { LoopchartError } from '../errors.ts'
import { isTyped, readStandardInput } from './standard-input.ts'
import type { StoreFlags } from './store-option.ts'

const MIB = 1024 * 1024
const PROMPT_BYTES_MAX = 10 * MIB

/**
 * The prompt: an argument, or standard input when there is none or it is `-`. Throws `usage` when neither has one, and
 * says then what a flag may have taken for its own.
 */
export async function readPrompt(given: string | undefined, flags: StoreFlags = {}): Promise<string> {
  if (given !== undefined && given !== '-') return checked(given, '')
  const taken = given === undefined ? takenBy(flags) : ''
  if (isTyped()) {
    const how = 'give it as an argument, or pipe it in'
    throw new LoopchartError('usage', `run needs a prompt: ${how}${taken}`)
  }
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of readStandardInput()) {
      chunks.push(chunk)
      length += chunk.length
      if (length > PROMPT_BYTES_MAX) break
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new LoopchartError('file_unreadable', `cannot read standard input: ${reason}`, { cause })
  }
  if (length > PROMPT_BYTES_MAX) {
    throw new LoopchartError(
      'usage',
      `standard input has more than ${PROMPT_BYTES_MAX / MIB} MiB, the most that a prompt may have; make it shorter, ` +
        'or put it into the --workspace, where a tool can read it piece by piece',
    )
  }
  return checked(decoded(Buffer.concat(chunks)), taken)
}

// The value of --store may be left out, so the word behind it is often meant for the prompt.
function takenBy({ store }: StoreFlags): string {
  if (typeof store !== 'string') return ''
  return `; ${JSON.stringify(store)} was taken for the file of --store: to name none, give --store last`
}

// A model would be sent marks in place of what was meant.
function decoded(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw new LoopchartError(
    'usage',
    'the prompt on standard input is not UTF-8: convert it, or send it as a file with --attach',
  )
}

function checked(prompt: string, taken: string): string {
  if (prompt.trim() !== '') return prompt
  throw new LoopchartError('usage', `the prompt is empty: give it as an argument, or pipe it in${taken}`)
}
