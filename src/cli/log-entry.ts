import type { Frame } from '../frames/generated/frame.ts'
import { outputShape } from './output-shape.ts'

export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace'

export interface LogEntry {
  readonly level: LogLevel
  readonly message: string
  readonly fields: object
}

/**
 * What a log says about a frame. Up to `info` what was done and what it cost, at `debug` what shape the model's output
 * had, at `trace` everything, payloads included.
 */
export function describeForLog(frame: Frame): readonly LogEntry[] {
  const whole: LogEntry = { level: 'trace', message: `frame ${frame.type}`, fields: { frame } }
  const told = tell(frame)
  return [
    ...told.map((entry) => ({ ...entry, fields: { run: frame.run_id, seq: frame.seq, ...entry.fields } })),
    whole,
  ]
}

function tell(frame: Frame): readonly LogEntry[] {
  switch (frame.type) {
    case 'run_started':
      return [info('run started', { model: frame.model, limits: frame.limits, continuity: frame.continuity })]
    case 'state_entered':
      return [{ level: 'debug', message: 'state entered', fields: { state: frame.state, by: frame.by } }]
    case 'request_sent': {
      const { turn, attempt, kind, continuity, endpoint, model, body } = frame
      return [
        info('request sent', { turn, attempt, kind, continuity, endpoint, model, body_chars: body.length }),
      ]
    }
    case 'response_headers': {
      const { turn, attempt, status, request_id, content_type } = frame
      return [
        {
          level: 'debug',
          message: 'response headers',
          fields: { turn, attempt, status, request_id, content_type },
        },
      ]
    }
    case 'provider_event':
      return frame.anomalies.length + frame.errors.length === 0
        ? []
        : [
            {
              level: 'debug',
              message: 'odd event',
              fields: { anomalies: frame.anomalies, errors: frame.errors },
            },
          ]
    case 'response_settled': {
      const { turn, attempt, status, usage, error, items } = frame
      const level = error === null ? 'info' : 'warn'
      const shape = { turn, output: outputShape(items) }
      return [
        { level, message: 'response settled', fields: { turn, attempt, status, usage, error } },
        { level: 'debug', message: 'output shape', fields: shape },
      ]
    }
    case 'tool_started':
      return [info('tool started', { call_id: frame.call_id, name: frame.name, attempt: frame.attempt })]
    case 'tool_ended':
    case 'tool_failed': {
      const { call_id, outcome, exit_code, duration_ms, error } = frame
      const level = outcome === 'ok' ? 'info' : 'warn'
      return [{ level, message: 'tool ended', fields: { call_id, outcome, exit_code, duration_ms, error } }]
    }
    case 'run_ended': {
      const { state, reason, usage, unanswered_calls } = frame
      const level = state === 'failed' ? 'error' : 'info'
      return [{ level, message: 'run ended', fields: { state, reason, usage, unanswered_calls } }]
    }
    case 'retry_scheduled':
    case 'continuity_switched':
    case 'provider_switched':
    case 'history_compacted':
    case 'limit_reached':
    case 'warning':
      return [{ level: 'warn', message: frame.type, fields: { cause: frame.cause, figures: frame.figures } }]
    case 'command_received':
      return [info('command', { command: frame.command, answer: frame.answer })]
    default:
      return []
  }
}

function info(message: string, fields: object): LogEntry {
  return { level: 'info', message, fields }
}
