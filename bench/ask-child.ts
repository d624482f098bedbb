import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

// Far above what the slowest client needs for the longest task.
const ANSWER_MS = 180_000

/** Asks a process of the bench something; rejects when it ends, or does not answer. */
export function ask<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  const answer = next<Answer>(child)
  child.send(question)
  return answer
}

/** What a process of the bench says next. */
export async function next<Answer>(child: ChildProcess): Promise<Answer> {
  const ended = new AbortController()
  const onExit = (code: number | null): void =>
    ended.abort(new Error(`a process of the bench ended with ${code}`))
  const late = setTimeout(() => ended.abort(new Error('a process of the bench does not answer')), ANSWER_MS)
  child.once('exit', onExit)
  try {
    const [answer] = (await once(child, 'message', { signal: ended.signal })) as [Answer]
    return answer
  } catch (error) {
    throw ended.signal.reason ?? error
  } finally {
    clearTimeout(late)
    child.off('exit', onExit)
  }
}
