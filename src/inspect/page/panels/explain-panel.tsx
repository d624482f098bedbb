import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'

import type { LoopCommand } from '../../../../machines/loop.types.ts'
import { can } from '../../../chart/can.ts'
import { explain } from '../../../chart/explain.ts'
import type { LoopSnapshot } from '../../../chart/loop-snapshot.ts'
import type { HistoryStep } from '../../run-history.ts'
import type { PanelProps } from '../run-model.ts'
import { Chip, Nothing, SeqLink } from './marks.tsx'
import { SafeText } from './safe-text.tsx'

/** Why the run is where it is at the cursor, what it waits for, and what may be asked of it. */
export function ExplainPanel({ run, at, goTo }: PanelProps): JSX.Element {
  const step = run.history.stepAt(at)
  const { problem } = run.history
  return (
    <div class="panel panel-scroll" tabIndex={0} role="region" aria-label="Explain">
      {problem !== null && (
        <p class="note note-warn">
          The states cannot be told{step === null ? '' : ' from some frame on'}: <SafeText text={problem} />
        </p>
      )}
      {step === null ? (
        problem === null && <Nothing text="The run has not begun by this frame." />
      ) : (
        <StepView step={step} goTo={goTo} />
      )}
    </div>
  )
}

function StepView({
  step,
  goTo,
}: {
  readonly step: HistoryStep
  readonly goTo: (seq: number) => void
}): JSX.Element {
  const told = useMemo(() => explain(step.snapshot), [step])
  const { context } = step.snapshot
  return (
    <>
      <h3 class="detail-title">
        <code class="state">{step.state}</code>
        <span class="dim">
          turn {context.turn}
          {context.attempt > 0 && `, attempt ${context.attempt + 1}`}
        </span>
        <SeqLink seq={step.seq} goTo={goTo} />
      </h3>
      <p class="doc">{told.doc}</p>
      <dl class="facts facts-wide">
        <dt>why</dt>
        <dd>
          <SafeText text={told.why} />
        </dd>
        <dt>moved by</dt>
        <dd>
          <code>
            <SafeText text={step.by} />
          </code>
          {step.entered.length > 1 && (
            <span class="dim">
              {' '}
              through {step.entered.map(({ state }) => state.slice(state.lastIndexOf('.') + 1)).join(' → ')}
            </span>
          )}
        </dd>
        <dt>waits for</dt>
        <dd>
          {told.waitsFor.length === 0 ? (
            <span class="dim">nothing</span>
          ) : (
            told.waitsFor.map((one, index) => (
              <div key={index}>
                <SafeText text={one} />
              </div>
            ))
          )}
        </dd>
      </dl>
      <section class="detail-part">
        <h4>What may be asked of it</h4>
        <Commands snapshot={step.snapshot} />
      </section>
    </>
  )
}

const CALLS_MAX = 50
const WORDS = { accepted: 'yes', queued: 'queued', refused: 'no' } as const

function Commands({ snapshot }: { readonly snapshot: LoopSnapshot }): JSX.Element {
  const answers = useMemo(
    () => commandsFor(snapshot).map((command) => ({ command, ...can(snapshot, command) })),
    [snapshot],
  )
  return (
    <ul class="commands">
      {answers.map(({ command, answer, reason }, index) => (
        <li key={index}>
          <Chip tone={answer === 'refused' ? 'quiet' : 'good'} text={WORDS[answer]} />
          <span>
            <code>{command.type}</code>{' '}
            {'callId' in command && reason === null && (
              <code class="dim">
                <SafeText text={command.callId} />
              </code>
            )}
            {reason !== null && (
              <span class="dim">
                {' '}
                <SafeText text={reason} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

function commandsFor({ context }: LoopSnapshot): readonly LoopCommand[] {
  const open = context.calls.filter(({ status }) => status !== 'settled').slice(0, CALLS_MAX)
  return [
    { type: 'run.cancel' },
    { type: 'run.steer', text: '' },
    ...open.flatMap(({ callId, status }): readonly LoopCommand[] =>
      status === 'inDoubt'
        ? [{ type: 'call.reconcile', callId, as: 'rerun' }]
        : [
            { type: 'call.approve', callId },
            { type: 'call.deny', callId, reason: '' },
          ],
    ),
  ]
}
