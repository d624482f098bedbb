import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'

import type { JsonObject } from '../../../protocol/json.ts'
import type { CallQuestion, CallRecord } from '../derive/call-records.ts'
import { JsonTextView } from './json-text-view.tsx'
import { LongText } from './long-text.tsx'
import { Chip } from './marks.tsx'
import { SafeText } from './safe-text.tsx'
import type { Sender } from './use-sender.ts'

interface QuestionFormProps {
  readonly question: CallQuestion
  readonly call: CallRecord | null
  readonly isAllowed: boolean
  readonly sender: Sender
}

/** A call that waits for a yes or a no, with what would happen. */
export function QuestionForm({ question, call, isAllowed, sender }: QuestionFormProps): JSX.Element {
  const { path, shown, reason, isEachTime } = question
  const [why, setWhy] = useState('')
  const [remember, setRemember] = useState('')
  const [isAnswered, setAnswered] = useState(false)
  const id = useId()
  // An answer holds for what was shown, and for nothing that may have come in its place since.
  const body: JsonObject = {
    call: path.length === 1 ? (path[0] ?? '') : path,
    arguments_hash: question.argumentsHash,
    ...(remember !== '' && { remember }),
  }
  // The log of this run does not say that one further in was answered: until the call ends, this page remembers it.
  const isOff = !isAllowed || sender.isSending || isAnswered
  const send = async (name: 'approve' | 'deny', answer: JsonObject): Promise<void> => {
    if (await sender.send(name, answer)) setAnswered(true)
  }
  const isInner = path.length > 1
  return (
    <section class="card card-question" aria-label={`Question about call ${path.join(', ')}`}>
      <h3 class="card-title">
        May{' '}
        <span class="call-name">
          <SafeText text={isInner ? (path.at(-1) ?? '') : (call?.name ?? path[0] ?? '')} />
        </span>{' '}
        run? <Chip tone="warn" text={reason === '' ? 'asked' : reason} />
        {isEachTime && <Chip tone="quiet" text="each time" />}
      </h3>
      {isInner && (
        <p class="dim">
          In the run of call <SafeText text={path.slice(0, -1).join(' → ')} />
        </p>
      )}
      <LongText text={shown} length={shown.length} isCode />
      {!isInner && call !== null && !shown.includes(call.arguments) && <JsonTextView text={call.arguments} />}
      {!isAllowed && <p class="note note-warn">This token may not answer.</p>}
      <div class="fields">
        <label for={`${id}-why`}>Reason, for a no</label>
        <input
          id={`${id}-why`}
          value={why}
          disabled={isOff}
          onInput={({ currentTarget }) => setWhy(currentTarget.value)}
        />
        {!isEachTime && (
          <>
            <label for={`${id}-for`}>The answer holds</label>
            <select
              id={`${id}-for`}
              value={remember}
              disabled={isOff}
              onChange={({ currentTarget }) => setRemember(currentTarget.value)}
            >
              <option value="">this once</option>
              <option value="call">for the same arguments, in this run</option>
              <option value="tool">for this tool, in this run</option>
            </select>
          </>
        )}
      </div>
      {isAnswered && <p class="dim">This was answered, and the run of the call goes on.</p>}
      <Buttons why={why.trim()} isOff={isOff} body={body} send={send} />
    </section>
  )
}

interface ButtonsProps {
  readonly why: string
  readonly isOff: boolean
  readonly body: JsonObject
  readonly send: (name: 'approve' | 'deny', answer: JsonObject) => Promise<void>
}

function Buttons({ why, isOff, body, send }: ButtonsProps): JSX.Element {
  return (
    <div class="buttons">
      <button type="button" class="yes" disabled={isOff} onClick={() => void send('approve', body)}>
        Approve
      </button>
      <button
        type="button"
        class="no"
        disabled={isOff || why === ''}
        title={why === '' ? 'give a reason first: the model is told' : 'the model is told the reason'}
        onClick={() => void send('deny', { ...body, reason: why })}
      >
        Deny
      </button>
    </div>
  )
}
