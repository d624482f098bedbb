import { LoopchartError } from '../errors.ts'
import { isTyped, readStandardInput } from './standard-input.ts'

const PROMPT_BYTES_MAX = 10 * 1024 * 1024

/** The prompt: an argument, or standard input when there is none or it is `-`. Throws `usage` when neither has one. */
export async function readPrompt(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return checked(given)
  if (isTyped()) {
    throw new LoopchartError('usage', 'run needs a prompt: give it as an argument, or pipe it in')
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
      `standard input has more than ${PROMPT_BYTES_MAX} bytes; attach it with --attach`,
    )
  }
  return checked(Buffer.concat(chunks).toString('utf8'))
}

function checked(prompt: string): string {
  if (prompt.trim() !== '') return prompt
  throw new LoopchartError('usage', 'the prompt is empty: give it as an argument, or pipe it in')
}
