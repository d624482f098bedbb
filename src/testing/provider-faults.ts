import type { StreamingEvent } from '../protocol/events.ts'
import type { ScriptFault, ScriptTurn } from '../provider/scripted/script.ts'
import { SSE_DONE, sseText } from '../provider/scripted/sse-text.ts'

/** One thing that a provider can do wrong. */
export interface ProviderFault {
  readonly name: string
  /** What it sends in place of a turn; `events` are those of the turn as it should be. */
  readonly instead: (turn: ScriptTurn, events: readonly StreamingEvent[]) => ScriptTurn
}

/** Everything that is tried: refusals, broken connections, broken streams, streams that contradict themselves. */
export const PROVIDER_FAULTS: readonly ProviderFault[] = [
  ...[400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529].map((status) =>
    withFault(`status ${status}`, { type: 'status', status }),
  ),
  withFault('status 429 with retry-after', { type: 'status', status: 429, headers: { 'retry-after': '2' } }),
  withFault('status 502 with a page', { type: 'status', status: 502, body: '<html>bad gateway</html>' }),
  withFault('previous_response_not_found', {
    type: 'status',
    status: 400,
    body: { error: { message: 'gone', code: 'previous_response_not_found', param: 'previous_response_id' } },
  }),
  withFault('reset before the head', { type: 'reset', at_byte: 0 }),
  withFault('reset after one byte', { type: 'reset', at_byte: 1 }),
  atEvent('reset in the middle', 'reset', (count) => Math.floor(count / 2)),
  atEvent('reset before the last event', 'reset', (count) => count - 1),
  withFault('an empty body', { type: 'truncate', at_byte: 0 }),
  withFault('an end after one byte', { type: 'truncate', at_byte: 1 }),
  atEvent('an end in the middle', 'truncate', (count) => Math.floor(count / 2)),
  atEvent('an end before the last event', 'truncate', (count) => count - 1),
  withFault('silence before the head', { type: 'stall', at_byte: 0 }),
  withFault('silence after one byte', { type: 'stall', at_byte: 1 }),
  atEvent('silence before the last event', 'stall', (count) => count - 1),
  withFault('a page instead of a stream', { type: 'raw', text: '<html></html>', content_type: 'text/html' }),
  withFault('an error in a body', {
    type: 'raw',
    text: '{"error":{"message":"no","code":"server_error"}}',
    content_type: 'application/json',
  }),
  withFault('bytes that are no text', { type: 'raw_base64', base64: 'AP/+gIGCg4Q=' }),
  withFault('nothing but [DONE]', { type: 'raw', text: SSE_DONE }),
  surgery('an event that is not JSON', (events) => [
    ...events.slice(0, 3),
    'data: {"type":\n\n',
    ...events.slice(3),
  ]),
  surgery('an event that nobody knows', (events) => [
    ...events.slice(0, 2),
    'event: acme:hello\ndata: {"type":"acme:hello","sequence_number":2}\n\n',
    ...events.slice(2),
  ]),
  surgery('an event that comes twice', (events) =>
    events.flatMap((event, at) => (at === 4 ? [event, event] : [event])),
  ),
  surgery('an event that is missing', (events) => events.toSpliced(4, 1)),
  surgery('two events in the wrong order', (events) => swapped(events, 3, 4)),
  surgery('the whole stream backwards', (events) => events.toReversed()),
  surgery('a stream that comes twice', (events) => [...events, ...events]),
  surgery('events after the last one', (events) => [...events, ...events.slice(2, 6)]),
  surgery('no event for the end of an item', (events) =>
    events.filter((event) => !event.startsWith('event: response.output_item.done')),
  ),
  surgery('arguments that differ from their deltas', (events) =>
    events.map((event) =>
      event.startsWith('event: response.function_call_arguments.done')
        ? event.replace(/"arguments":"(?:[^"\\]|\\.)*"/u, '"arguments":"{\\"other\\":true}"')
        : event,
    ),
  ),
  changed('an end without a reason', { end: { status: 'incomplete' } }),
  changed('an end that a filter made', { end: { status: 'incomplete', reason: 'content_filter' } }),
  changed('a failure that may pass', { end: { status: 'failed', code: 'server_error' } }),
  changed('a failure for good', { end: { status: 'failed', code: 'invalid_prompt' } }),
  changed('a response with nothing in it', { output: [] }),
  changed('a call of no tool', { output: [{ type: 'function_call', name: 'no_such_tool' }] }),
  {
    name: 'arguments that are no JSON',
    instead: (turn) => ({ ...turn, output: mapCalls(turn, () => '{"half": ') }),
  },
  {
    name: 'arguments that are no object',
    instead: (turn) => ({ ...turn, output: mapCalls(turn, () => '[1]') }),
  },
  {
    name: 'two calls of one id',
    instead: (turn) => ({ ...turn, output: [...withId(turn), ...withId(turn)] }),
  },
]

function withFault(name: string, fault: ScriptFault): ProviderFault {
  return { name, instead: (turn) => ({ ...turn, fault }) }
}

function changed(name: string, change: ScriptTurn): ProviderFault {
  return { name, instead: (turn) => ({ ...turn, ...change }) }
}

/** Something happens between two events. */
function atEvent(
  name: string,
  type: 'reset' | 'stall' | 'truncate',
  at: (count: number) => number,
): ProviderFault {
  return {
    name,
    instead: (turn, events) => {
      const before = events.slice(0, at(events.length)).map(sseText).join('')
      return { ...turn, fault: { type, at_byte: new TextEncoder().encode(before).length } }
    },
  }
}

function surgery(name: string, operate: (events: readonly string[]) => readonly string[]): ProviderFault {
  return {
    name,
    instead: (turn, events) => ({
      ...turn,
      fault: { type: 'raw', text: [...operate(events.map(sseText)), SSE_DONE].join('') },
    }),
  }
}

function swapped(events: readonly string[], a: number, b: number): readonly string[] {
  const [first = '', second = ''] = [events[a], events[b]]
  return events.with(a, second).with(b, first)
}

type Items = NonNullable<ScriptTurn['output']>

function mapCalls({ output = [] }: ScriptTurn, args: () => string): Items {
  return output.map((item) => (item.type === 'function_call' ? { ...item, arguments: args() } : item))
}

function withId({ output = [] }: ScriptTurn): Items {
  return output.map((item) => (item.type === 'function_call' ? { ...item, call_id: 'call_again' } : item))
}
