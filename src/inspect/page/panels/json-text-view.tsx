import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'

import { prettyJson } from '../derive/pretty-json.ts'
import { LongText } from './long-text.tsx'

// Laying it out takes time, and nobody reads that far.
const LAID_OUT_MAX = 2_000_000

/** Text laid out where it is JSON, and as it came where it is not. */
export function JsonTextView({
  text,
  first,
}: {
  readonly text: string
  readonly first?: number
}): JSX.Element {
  const shown = useMemo(() => (text.length > LAID_OUT_MAX ? text : (prettyJson(text) ?? text)), [text])
  return <LongText text={shown} length={shown.length} isCode {...(first !== undefined && { first })} />
}
