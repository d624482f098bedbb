import type { ComponentChildren, JSX } from 'preact'

import { countText } from './derive/figures.ts'
import { Icon } from './icon.tsx'
import { moveTarget } from './move-target.ts'
import { offsetText } from './offset-text.ts'
import { PLAY_SPEEDS, type PlaySpeed } from './play-on.ts'
import type { RunMarks } from './run-marks.ts'
import type { RunModel } from './run-model.ts'
import type { ShortcutAction } from './shortcut.ts'
import type { RunCursor } from './use-run-cursor.ts'

/** What the buttons below the run are given. */
export interface TransportProps {
  readonly run: RunModel
  readonly marks: RunMarks
  readonly cursor: RunCursor
  readonly onAction: (action: ShortcutAction) => void
}

/** Play, speed, jumps and following. */
export function Transport({ run, marks, cursor, onAction }: TransportProps): JSX.Element {
  const { at, isFollowing, player } = cursor
  const last = run.frames.length - 1
  const isOff = (action: ShortcutAction): boolean => moveTarget(action, at, last, marks) === null
  const offsetMs = (run.frames[at]?.ts ?? 0) - (run.frames[0]?.ts ?? 0)
  return (
    <div class="transport" role="toolbar" aria-label="Move through the run">
      <ActionButton
        text="Previous decision"
        letter="D"
        isOff={isOff('previousDecision')}
        onPress={() => onAction('previousDecision')}
      >
        <Icon name="previous" />
      </ActionButton>
      <ActionButton
        text={player.isPlaying ? 'Pause' : 'Play'}
        letter="space"
        look="is-main"
        onPress={() => onAction('play')}
      >
        <Icon name={player.isPlaying ? 'pause' : 'play'} />
      </ActionButton>
      <ActionButton
        text="Next decision"
        letter="d"
        isOff={isOff('nextDecision')}
        onPress={() => onAction('nextDecision')}
      >
        <Icon name="next" />
      </ActionButton>
      <ActionButton
        text="Next error"
        letter="e"
        look="is-alert"
        isOff={isOff('nextError')}
        onPress={() => onAction('nextError')}
      >
        <Icon name="alert" />
      </ActionButton>
      <Speeds speed={player.speed} onSpeed={player.setSpeed} />
      <button
        type="button"
        class={`follow-button${isFollowing && run.isLive ? ' is-live' : ''}`}
        title="Follow the run (f)"
        aria-pressed={isFollowing}
        onClick={() => onAction('follow')}
      >
        <span class="live-dot" aria-hidden="true" />
        {run.isEnded ? 'End' : 'Follow'}
      </button>
      <span class="position">
        <span class="position-seq">{last < 0 ? 'no frames' : `${countText(at)} / ${countText(last)}`}</span>
        <span class="position-time">{offsetText(offsetMs)} s</span>
      </span>
    </div>
  )
}

interface ActionButtonProps {
  readonly text: string
  /** The key that does the same. */
  readonly letter: string
  readonly look?: string
  /** There is nothing to go to. */
  readonly isOff?: boolean
  readonly onPress: () => void
  readonly children: ComponentChildren
}

function ActionButton(props: ActionButtonProps): JSX.Element {
  const { text, letter, look = '', isOff = false, onPress, children } = props
  return (
    <button
      type="button"
      class={`icon-button ${look}`}
      title={isOff ? `${text} (${letter}): there is none from here` : `${text} (${letter})`}
      aria-label={text}
      // Not `disabled`: whoever pressed it until there was none would lose the focus.
      aria-disabled={isOff}
      onClick={isOff ? undefined : onPress}
    >
      {children}
    </button>
  )
}

interface SpeedsProps {
  readonly speed: PlaySpeed
  readonly onSpeed: (speed: PlaySpeed) => void
}

function Speeds({ speed, onSpeed }: SpeedsProps): JSX.Element {
  return (
    <div class="speeds" role="group" aria-label="Speed">
      {PLAY_SPEEDS.map((choice) => (
        <button
          key={choice}
          type="button"
          class="speed"
          aria-pressed={choice === speed}
          aria-label={`${speedText(choice)} speed`}
          onClick={() => onSpeed(choice)}
        >
          {speedText(choice)}
        </button>
      ))}
    </div>
  )
}

function speedText(speed: PlaySpeed): string {
  return speed === 'max' ? 'max' : `${speed}×`
}
