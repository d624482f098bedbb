import { onTestFinished } from 'vitest'

import type { Script, ScriptTurn } from '../../src/provider/scripted/script.ts'
import {
  startScriptedProvider,
  type ScriptedProvider,
  type ScriptedProviderOptions,
  type ScriptFunction,
} from '../../src/provider/scripted/start-scripted-provider.ts'

/** A provider for one test. */
export async function provide(
  script: readonly ScriptTurn[] | ScriptFunction,
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const given: Script | ScriptFunction = typeof script === 'function' ? script : { v: 1, turns: script }
  const provider = await startScriptedProvider(given, options)
  onTestFinished(() => provider.close())
  return provider
}

/** Sends a body to POST /v1/responses. */
export function post({ url }: ScriptedProvider, body: object | string): Promise<Response> {
  return fetch(`${url}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

export async function postJson(provider: ScriptedProvider, body: object): Promise<Record<string, unknown>> {
  const answer = await post(provider, body)
  return (await answer.json()) as Record<string, unknown>
}

/** An error's message and code. */
export async function refusal(
  answer: Response,
): Promise<{ status: number; message: string; code: string | null }> {
  const { error } = (await answer.json()) as { error: { message: string; code: string | null } }
  return { status: answer.status, message: error.message, code: error.code }
}

export const HELLO: ScriptTurn = { output: [{ type: 'message', text: 'Hello there.' }] }
export const ADD: ScriptTurn = {
  output: [
    { type: 'reasoning', summary: 'Adding is needed.', content: 'two and three', encrypted: 'b3BhcXVl' },
    { type: 'message', text: ['Let me ', 'see.'], phase: 'commentary' },
    { type: 'function_call', name: 'add', arguments: { a: 2, b: 3 }, call_id: 'call_x' },
  ],
}
export const FIVE: ScriptTurn = {
  output: [{ type: 'message', text: 'It is 5.' }],
  usage: { input_tokens: 20, output_tokens: 4, cached_tokens: 8, reasoning_tokens: 1 },
}

/** The text of a response. */
export function textOf(response: Record<string, unknown> | undefined): string {
  const output = response?.['output'] as { content?: { text?: string }[] }[]
  return output.flatMap(({ content }) => content?.map(({ text }) => text ?? '') ?? []).join('')
}
