import type { JSX } from 'preact'
import { useState } from 'preact/hooks'

/** Takes a token from whoever has one. It goes to the session of this tab, never into the address. */
export function TokenForm({ onToken }: { readonly onToken: (token: string) => void }): JSX.Element {
  const [text, setText] = useState('')
  return (
    <form
      class="token-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') onToken(text.trim())
      }}
    >
      <label class="field">
        <span class="field-name">Token</span>
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        Use it
      </button>
    </form>
  )
}
