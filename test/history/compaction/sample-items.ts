import type { AnyItem } from '../../../src/protocol/items.ts'

export function user(text: string): AnyItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

export function system(text: string): AnyItem {
  return { type: 'message', role: 'system', content: text }
}

export function developer(text: string): AnyItem {
  return { type: 'message', role: 'developer', content: text }
}

export function said(text: string): AnyItem {
  return { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text }] }
}

export function reasoning(id = 'rs_1'): AnyItem {
  return { type: 'reasoning', id, summary: [], encrypted_content: 'x'.repeat(40) }
}

export function call(callId: string, name = 'read_file', args: object = { path: `${callId}.ts` }): AnyItem {
  return { type: 'function_call', call_id: callId, name, arguments: JSON.stringify(args) }
}

export function output(callId: string, text = 'done'): AnyItem {
  return { type: 'function_call_output', call_id: callId, output: text }
}

/** The output of a call that did not run. */
export function notRun(callId: string, outcome: string, detail: string | null = null): AnyItem {
  return { type: 'function_call_output', call_id: callId, output: null, outcome, tool: 'read_file', detail }
}

/** A response that calls one tool, and the output. */
export function round(callId: string, text = 'x'.repeat(200)): readonly AnyItem[] {
  return [reasoning(`rs_${callId}`), call(callId), output(callId, text)]
}

export const SEALED: AnyItem = { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' }
