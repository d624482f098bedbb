import type { Redactor } from '../frames/redactor.ts'
import { oneLine } from './safe-text.ts'

/** Says something to the user, each in one line that shows that it is ours. */
export type Say = (text: string) => void

/** What says things on a stream, without secrets. */
export function sayTo(output: NodeJS.WritableStream, redactor: Redactor): Say {
  return (text) => {
    output.write(`loopchart: ${oneLine(redactor.text(text))}\n`)
  }
}
