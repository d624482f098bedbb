import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'

import type { Sender } from './use-sender.ts'

interface FormProps {
  readonly sender: Sender
}

/** Says something to the model, which hears it with its next request. */
export function SteerForm({ sender }: FormProps): JSX.Element {
  const [text, setText] = useState('')
  const id = useId()
  const send = async (): Promise<void> => {
    if (await sender.send('steer', { text })) setText('')
  }
  return (
    <section class="card">
      <h3 class="card-title">
        <label for={id}>Steer</label>
      </h3>
      <textarea
        id={id}
        rows={2}
        value={text}
        disabled={sender.isSending}
        placeholder="The model hears it with its next request"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div class="buttons">
        <button type="button" disabled={sender.isSending || text.trim() === ''} onClick={() => void send()}>
          Send
        </button>
      </div>
    </section>
  )
}

/** Ends the run, after it was asked for twice. */
export function CancelForm({ sender }: FormProps): JSX.Element {
  const [isSure, setSure] = useState(false)
  const [reason, setReason] = useState('')
  const id = useId()
  const send = async (): Promise<void> => {
    await sender.send('cancel', reason.trim() === '' ? {} : { reason: reason.trim() })
    setSure(false)
  }
  return (
    <section class="card">
      <h3 class="card-title">
        <label for={id}>Cancel the run</label>
      </h3>
      <input
        id={id}
        value={reason}
        disabled={sender.isSending}
        placeholder="Reason, if there is one"
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <div class="buttons">
        {isSure ? (
          <>
            <button type="button" class="no" disabled={sender.isSending} onClick={() => void send()}>
              Yes, end it for good
            </button>
            <button type="button" onClick={() => setSure(false)}>
              No
            </button>
          </>
        ) : (
          <button type="button" class="no" disabled={sender.isSending} onClick={() => setSure(true)}>
            Cancel the run
          </button>
        )}
      </div>
    </section>
  )
}
