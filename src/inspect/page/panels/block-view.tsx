import type { JSX } from 'preact'

import type { Block, ChildRun, Command } from '../derive/blocks.ts'
import { countOf } from '../derive/figures.ts'
import { itemParts } from '../derive/item-parts.ts'
import { fieldsOf, listIn, textIn } from '../derive/json-fields.ts'
import { AttemptBlock } from './attempt-block.tsx'
import { CallBlock } from './call-block.tsx'
import { EntryBlock } from './entry-block.tsx'
import { LongText } from './long-text.tsx'
import { Chip, RunLink, SeqLink, type Tone } from './marks.tsx'
import { SafeText } from './safe-text.tsx'
import { Said } from './said.tsx'

interface BlockProps {
  readonly block: Block
  readonly at: number
  readonly goTo: (seq: number) => void
}

/** One thing in a conversation. */
export function BlockView({ block, at, goTo }: BlockProps): JSX.Element {
  const seq = <SeqLink seq={block.seq} goTo={goTo} />
  switch (block.kind) {
    case 'input':
      return <InputBlock input={block.input} seq={seq} />
    case 'attempt':
      return <AttemptBlock attempt={block.attempt} at={at} seq={seq} />
    case 'call':
      return <CallBlock call={block.call} at={at} seq={seq} />
    case 'command':
      return <CommandBlock command={block.command} seq={seq} />
    case 'notice': {
      const { title, detail, tone } = block.notice
      return (
        <div class={`line line-${tone}`}>
          <span>
            <strong>{title}</strong> <SafeText text={detail} />
          </span>
          {seq}
        </div>
      )
    }
    case 'end':
      return <EndBlock {...block} seqLink={seq} />
    case 'entry':
      return <EntryBlock entry={block.entry} seq={seq} />
    case 'child':
      return <ChildBlock child={block.child} at={at} seq={seq} />
  }
}

function InputBlock({ input, seq }: { readonly input: unknown; readonly seq: JSX.Element }): JSX.Element {
  if (typeof input === 'string') {
    return (
      <Said who="user" tone="user" seq={seq}>
        <LongText text={input} length={input.length} />
      </Said>
    )
  }
  const items = listIn({ input: Array.isArray(input) ? input : [] }, 'input')
  return (
    <>
      {items.map((item, index) => {
        const fields = fieldsOf(item)
        const text =
          itemParts(item)
            .map((part) => part.text)
            .join('\n') ||
          (textIn(fields, 'arguments') ?? textIn(fields, 'output') ?? '')
        const who = textIn(fields, 'role') ?? textIn(fields, 'type') ?? 'item'
        return (
          <Said key={index} who={who} tone={who === 'user' ? 'user' : 'other'} seq={index === 0 ? seq : null}>
            <LongText text={text} length={text.length} />
          </Said>
        )
      })}
    </>
  )
}

const ANSWERS: Readonly<Record<string, Tone>> = { accepted: 'good', queued: 'busy', refused: 'bad' }

function CommandBlock({
  command,
  seq,
}: {
  readonly command: Command
  readonly seq: JSX.Element
}): JSX.Element {
  const { type, callId, said, answer, refusal } = command
  const chip = <Chip tone={ANSWERS[answer] ?? 'quiet'} text={answer} />
  const why =
    refusal === null ? null : (
      <span class="dim">
        {' '}
        <SafeText text={refusal} />
      </span>
    )
  if (type === 'run.steer') {
    return (
      <Said
        who="steer"
        tone="user"
        seq={seq}
        after={
          <>
            {chip}
            {why}
          </>
        }
      >
        <LongText text={said} length={said.length} />
      </Said>
    )
  }
  return (
    <div class="line">
      <span>
        <strong>
          <SafeText text={type} />
        </strong>{' '}
        {callId !== null && (
          <code>
            <SafeText text={callId} />
          </code>
        )}{' '}
        {said !== '' && <SafeText text={said} />} {chip}
        {why}
      </span>
      {seq}
    </div>
  )
}

const ENDS: Readonly<Record<string, Tone>> = {
  done: 'good',
  failed: 'bad',
  limitExceeded: 'bad',
  cancelled: 'warn',
}

interface EndProps {
  readonly state: string
  readonly reason: string
  readonly unanswered: number
  readonly seqLink: JSX.Element
}

function EndBlock({ state, reason, unanswered, seqLink }: EndProps): JSX.Element {
  return (
    <div class="line line-end">
      <span>
        <strong>the run ended</strong> <Chip tone={ENDS[state] ?? 'quiet'} text={state} />{' '}
        <SafeText text={reason} />
        {unanswered > 0 && <span class="dim">, {countOf(unanswered, 'call')} without an answer</span>}
      </span>
      {seqLink}
    </div>
  )
}

function ChildBlock({
  child,
  at,
  seq,
}: {
  readonly child: ChildRun
  readonly at: number
  readonly seq: JSX.Element
}): JSX.Element {
  const end = child.end !== null && child.end.seq <= at ? child.end : null
  return (
    <div class="line">
      <span>
        <strong>run</strong> <RunLink runId={child.runId} />{' '}
        {end === null ? (
          <Chip tone="busy" text="running" />
        ) : (
          <Chip tone={ENDS[end.state] ?? 'warn'} text={end.state} />
        )}
        {end !== null && end.reason !== 'completed' && (
          <span class="dim">
            {' '}
            <SafeText text={end.reason} />
          </span>
        )}
      </span>
      {seq}
    </div>
  )
}
