import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { SHORTCUTS } from './shortcut.ts'

/** What the help is given. */
export interface HelpDialogProps {
  readonly areKeysOn: boolean
  readonly onKeys: (areOn: boolean) => void
  readonly onClose: () => void
}

const NAMES: Readonly<Record<string, string>> = {
  ' ': 'Space',
  ArrowRight: '→',
  ArrowLeft: '←',
  PageDown: 'Page Down',
  PageUp: 'Page Up',
}

/** Every key and what it does. Whoever speaks to a computer, or leans on keys, can turn them off. */
export function HelpDialog({ areKeysOn, onKeys, onClose }: HelpDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const { current } = dialog
    current?.showModal()
    return () => current?.close()
  }, [])
  return (
    <dialog class="help" ref={dialog} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <dl class="help-keys">
        {SHORTCUTS.map(({ action, keys, text }) => (
          <div key={action} class="help-key">
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{NAMES[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <label class="help-switch">
        <input
          type="checkbox"
          checked={areKeysOn}
          onChange={(event) => onKeys(event.currentTarget.checked)}
        />
        Keys work anywhere on the page
      </label>
      <form method="dialog" class="help-end">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  )
}
