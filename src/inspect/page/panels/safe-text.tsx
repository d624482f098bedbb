import type { JSX } from 'preact'

import { visibleText } from '../derive/visible-text.ts'

/** Text as text, whatever it holds: characters that would not be seen are named, links are not followed. */
export function SafeText({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {visibleText(text).map((run) =>
        run.hidden === null ? (
          run.text
        ) : (
          <span class="hidden-char" title={`hidden character ${run.hidden}`}>
            {run.text}
          </span>
        ),
      )}
    </>
  )
}
