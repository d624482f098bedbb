import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'

import type { JsonObject } from '../../../protocol/json.ts'
import { SafeText } from './safe-text.tsx'
import type { Sender } from './use-sender.ts'

interface ReconcileFormProps {
  /** Ids from the call of this run inwards. */
  readonly path: readonly string[]
  readonly isAllowed: boolean
  readonly sender: Sender
}

/** A call of which nobody knows how it ended: somebody says what became of it. */
export function ReconcileForm({ path, isAllowed, sender }: ReconcileFormProps): JSX.Element {
  const [output, setOutput] = useState('')
  const id = useId()
  const isOff = !isAllowed || sender.isSending
  const send = (as: 'done' | 'failed' | 'rerun'): void => {
    const body: JsonObject = { call: path.length === 1 ? (path[0] ?? '') : path, as }
    void sender.send('reconcile', as === 'rerun' ? body : { ...body, output })
  }
  return (
    <section class="card card-question" aria-label={`Call ${path.join(', ')} is in doubt`}>
      <h3 class="card-title">
        What became of call{' '}
        <code>
          <SafeText text={path.join(' → ')} />
        </code>
        ?
      </h3>
      <p class="dim">It was started, and the process ended before it did. It may have done its work.</p>
      {!isAllowed && <p class="note note-warn">This token may not say.</p>}
      <div class="fields">
        <label for={id}>What the model is told</label>
        <textarea
          id={id}
          rows={2}
          value={output}
          disabled={isOff}
          onInput={({ currentTarget }) => setOutput(currentTarget.value)}
        />
      </div>
      <div class="buttons">
        <button type="button" disabled={isOff} onClick={() => send('done')}>
          It was done
        </button>
        <button type="button" disabled={isOff} onClick={() => send('failed')}>
          It failed
        </button>
        <button type="button" disabled={isOff} onClick={() => send('rerun')}>
          Run it again
        </button>
      </div>
    </section>
  )
}
