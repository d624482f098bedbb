import type { ComponentChildren, JSX } from 'preact'

import type { CallView } from '../derive/call-at.ts'
import type { CallQuestion, CallReply } from '../derive/call-records.ts'
import { countOf, countText, durationText } from '../derive/figures.ts'
import type { JoinedText } from '../derive/joined-text.ts'
import { callTone } from './call-tone.ts'
import { JsonTextView } from './json-text-view.tsx'
import { LongText } from './long-text.tsx'
import { Chip, RunLink, SeqLink } from './marks.tsx'
import { SafeText } from './safe-text.tsx'

interface CallDetailProps {
  readonly view: CallView
  /** The time at the cursor, in milliseconds. */
  readonly now: number
  readonly goTo: (seq: number) => void
}

/** Everything about one call by the cursor. */
export function CallDetail({ view, now, goTo }: CallDetailProps): JSX.Element {
  const { call, children, stdoutLength, stderrLength, end } = view
  const { text, tone } = callTone(view)
  return (
    <>
      <h3 class="detail-title">
        <span class="call-name">
          <SafeText text={call.name} />
        </span>
        <Chip tone={tone} text={text} />
        {call.disposition !== 'ready' && <Chip tone="warn" text={call.disposition.replaceAll('_', ' ')} />}
      </h3>
      <CallFacts view={view} now={now} goTo={goTo} />
      <Section title="Arguments">
        <JsonTextView text={call.arguments} />
      </Section>
      <Approval view={view} goTo={goTo} />
      {children.length > 0 && (
        <Section title="Runs of its own">
          {children.map(({ seq, runId }) => (
            <div key={seq} class="line">
              <RunLink runId={runId} />
              <SeqLink seq={seq} goTo={goTo} />
            </div>
          ))}
        </Section>
      )}
      {stdoutLength > 0 && <Stream name="stdout" text={call.stdout} length={stdoutLength} />}
      {stderrLength > 0 && <Stream name="stderr" text={call.stderr} length={stderrLength} />}
      {end !== null && (
        <Section title="Told to the model">
          {end.error !== null && (
            <p class="failure">
              <code>
                <SafeText text={end.error.code} />
              </code>{' '}
              <SafeText text={end.error.message} />
            </p>
          )}
          <JsonTextView text={end.output} />
        </Section>
      )}
    </>
  )
}

function Section({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <section class="detail-part">
      <h4>{title}</h4>
      {children}
    </section>
  )
}

function Stream({
  name,
  text,
  length,
}: {
  readonly name: string
  readonly text: JoinedText
  readonly length: number
}): JSX.Element {
  return (
    <Section title={`${name}, ${countText(length)} characters`}>
      <div class={`stream stream-${name}`}>
        <LongText text={text} length={length} isCode isTail />
      </div>
    </Section>
  )
}

function CallFacts({ view, now, goTo }: CallDetailProps): JSX.Element {
  const { call, starts, startedTs, end, state } = view
  const ms = startedTs === null ? null : (end?.durationMs ?? (state === 'running' ? now - startedTs : null))
  return (
    <dl class="facts">
      <dt>id</dt>
      <dd>
        <code>
          <SafeText text={call.callId} />
        </code>
      </dd>
      <dt>turn</dt>
      <dd>
        {call.turn}, called at <SeqLink seq={call.seq} goTo={goTo} />
        {end !== null && (
          <>
            , ended at <SeqLink seq={end.seq} goTo={goTo} />
          </>
        )}
      </dd>
      {ms !== null && (
        <>
          <dt>{end === null ? 'running for' : 'took'}</dt>
          <dd>{durationText(ms)}</dd>
        </>
      )}
      {starts > 1 && (
        <>
          <dt>started</dt>
          <dd>{countOf(starts, 'time')}</dd>
        </>
      )}
      {end !== null && end.exitCode !== null && (
        <>
          <dt>exit code</dt>
          <dd>{end.exitCode}</dd>
        </>
      )}
      {end !== null && end.artifacts > 0 && (
        <>
          <dt>artifacts</dt>
          <dd>{end.artifacts}</dd>
        </>
      )}
    </dl>
  )
}

function Approval({
  view,
  goTo,
}: {
  readonly view: CallView
  readonly goTo: (seq: number) => void
}): JSX.Element | null {
  const { questions, replies, call, starts } = view
  if (questions.length === 0 && replies.length === 0) {
    if (call.approval === null || (starts === 0 && view.end === null)) return null
    return (
      <Section title="Approval">
        <p class="dim">
          Needed (<SafeText text={call.approval} />
          ); an earlier answer of this run covered it, so nobody was asked.
        </p>
      </Section>
    )
  }
  return (
    <Section title="Approval">
      {questions.map((question) => (
        <Question key={question.seq} question={question} goTo={goTo} />
      ))}
      {replies.map((reply) => (
        <Reply key={reply.seq} reply={reply} goTo={goTo} />
      ))}
      {view.state === 'asked' && <p class="dim">Nobody has answered by this frame.</p>}
    </Section>
  )
}

function Question({
  question,
  goTo,
}: {
  readonly question: CallQuestion
  readonly goTo: (seq: number) => void
}): JSX.Element {
  const { path, shown, reason, isEachTime, seq } = question
  return (
    <div class="question">
      <div class="line">
        <span>
          <strong>asked</strong> because of: <SafeText text={reason} />
          {isEachTime && ', each time'}
          {path.length > 1 && (
            <span class="dim">
              {' '}
              (call <SafeText text={path.join(' → ')} />)
            </span>
          )}
        </span>
        <SeqLink seq={seq} goTo={goTo} />
      </div>
      <LongText text={shown} length={shown.length} isCode />
    </div>
  )
}

const VERBS: Readonly<Record<string, string>> = {
  'call.approve': 'approved',
  'call.deny': 'denied',
  'call.reconcile': 'reconciled',
}

function Reply({
  reply,
  goTo,
}: {
  readonly reply: CallReply
  readonly goTo: (seq: number) => void
}): JSX.Element {
  const { command, said, remember, answer, refusal, seq } = reply
  const isRefused = answer === 'refused'
  return (
    <div class="line">
      <span>
        <strong>
          {isRefused ? <SafeText text={command} /> : (VERBS[command] ?? <SafeText text={command} />)}
        </strong>{' '}
        by a command
        {said !== '' && (
          <>
            : <SafeText text={said} />
          </>
        )}
        {remember !== null && <span class="dim"> (remembered for the {remember})</span>}{' '}
        {isRefused && <Chip tone="bad" text="refused" />} {refusal !== null && <SafeText text={refusal} />}
      </span>
      <SeqLink seq={seq} goTo={goTo} />
    </div>
  )
}
