import { styleText } from 'node:util'

/** Where lines for people go, and what may be done there. */
export interface Terminal {
  readonly stream: NodeJS.WriteStream
  /** Whether the cursor may be moved: a terminal that is not a dumb one. */
  readonly isLive: boolean
  readonly paint: (style: Style, text: string) => string
}

export type Style = 'dim' | 'bold' | 'green' | 'red' | 'yellow'

/** What is known about a stream; a pipe or a file never gets an escape sequence. */
export function terminalOn(stream: NodeJS.WriteStream, env: Readonly<NodeJS.ProcessEnv>): Terminal {
  const isLive = stream.isTTY && env['TERM'] !== 'dumb'
  const isColoured = isLive && (env['NO_COLOR'] ?? '') === ''
  return {
    stream,
    isLive,
    paint: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
  }
}
