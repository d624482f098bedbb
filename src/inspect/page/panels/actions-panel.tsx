import type { JSX } from 'preact'

import { callsInDoubt, openQuestions } from '../derive/call-at.ts'
import { deriveIndex } from '../derive/run-index.ts'
import type { PanelProps } from '../run-model.ts'
import { CancelForm, SteerForm } from './command-forms.tsx'
import { Nothing } from './marks.tsx'
import { QuestionForm } from './question-form.tsx'
import { ReconcileForm } from './reconcile-form.tsx'
import { SafeText } from './safe-text.tsx'
import { useSender, type Sender } from './use-sender.ts'

/** What may be asked of the run, with a token that may. It is asked of the run as it is now, wherever the cursor is. */
export function ActionsPanel({ run, at, access, api }: PanelProps): JSX.Element {
  const { calls } = deriveIndex(run.frames)
  const last = run.frames.length - 1
  const sender = useSender(run, api)
  const isConversation = run.frames[0]?.type === 'conversation_started'
  const [mayRun, mayApprove] = [access.scopes.includes('run'), access.scopes.includes('approve')]
  const questions = openQuestions(calls.all, last)
  const doubts = callsInDoubt(calls.all, last)
  if (isConversation) {
    return (
      <Told
        text="This is the log of a conversation: open one of its runs to ask something of it."
        sender={sender}
      />
    )
  }
  if (run.isEnded)
    return <Told text="The run has ended: nothing can be asked of it any more." sender={sender} />
  return (
    <div class="panel panel-scroll" tabIndex={0} role="region" aria-label="Actions">
      {at < last && (
        <p class="note">
          This is about the run as it is now, at frame {last}, and not about the frame at the cursor.
        </p>
      )}
      {!mayApprove && !mayRun && <p class="note note-warn">This token may only read.</p>}
      {run.summary?.status === 'stored' && (
        <p class="note note-warn">
          No agent of this service has begun this run, so that none can go on with it here.
        </p>
      )}
      <Result sender={sender} />
      {questions.map((question) => (
        <QuestionForm
          key={`${question.seq} ${question.path.join('/')}`}
          question={question}
          call={calls.all.findLast(({ callId }) => callId === question.path[0]) ?? null}
          isAllowed={mayApprove}
          sender={sender}
        />
      ))}
      {doubts.map((path) => (
        <ReconcileForm key={path.join('/')} path={path} isAllowed={mayApprove} sender={sender} />
      ))}
      {questions.length + doubts.length === 0 && <Nothing text="No call waits for anybody." />}
      {mayRun && (
        <>
          <SteerForm sender={sender} />
          <CancelForm sender={sender} />
        </>
      )}
      {!mayRun && mayApprove && <p class="dim">This token may answer questions, and not steer or cancel.</p>}
    </div>
  )
}

function Told({ text, sender }: { readonly text: string; readonly sender: Sender }): JSX.Element {
  return (
    <div class="panel panel-scroll">
      <Result sender={sender} />
      <Nothing text={text} />
    </div>
  )
}

/** What came of the latest command; the element is always there, so that a screen reader hears of a change. */
function Result({ sender: { result } }: { readonly sender: Sender }): JSX.Element {
  return (
    <div role="status">
      {result !== null && (
        <p class={`note note-${result.tone}`}>
          <SafeText text={result.text} />
        </p>
      )}
    </div>
  )
}
