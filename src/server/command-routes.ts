import { hash } from 'node:crypto'

import type { z } from 'zod'

import { canonicalJson } from '../protocol/canonical-json.ts'
import { jsonAnswer } from './answer.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { APPROVE, CANCEL, DENY, NO_QUERY, RECONCILE, STEER } from './request-schemas.ts'
import { route, type Route } from './route.ts'
import { commandRun, type RunCommand } from './run-commands.ts'
import type { Scope } from './tokens.ts'

/** What can be asked of a run. */
export function commandRoutes(answerSchema: z.ZodType): readonly Route[] {
  const command = commandRoute(answerSchema)
  return [
    command('cancel', 'run', 'Cancels a run. Saying it twice is the same as once.', CANCEL, ({ reason }) => ({
      isCancel: true,
      send: (run) => run.cancel(reason),
    })),
    command('steer', 'run', 'Gives the model a message with the next request.', STEER, ({ text }) => ({
      send: (run) => run.steer(text),
    })),
    command('approve', 'approve', 'Says yes to a call that waits for it.', APPROVE, (said) => ({
      send: (run) => run.approve(said.call, answerOptions(said)),
    })),
    command('deny', 'approve', 'Says no; the model is told why.', DENY, (said) => ({
      send: (run) => run.deny(said.call, said.reason, answerOptions(said)),
    })),
    command(
      'reconcile',
      'approve',
      'Says what became of a call whose outcome is unknown.',
      RECONCILE,
      (said) => ({
        send: (run) => run.reconcile(said.call, said.as, said.output),
      }),
    ),
  ]
}

type MakeCommandRoute = <Body extends z.ZodType>(
  name: string,
  scope: Scope,
  summary: string,
  body: Body,
  toCommand: (said: z.output<Body>) => RunCommand,
) => Route

function commandRoute(schema: z.ZodType): MakeCommandRoute {
  return (name, scope, summary, body, toCommand) =>
    route({
      method: 'POST',
      path: `/runs/:id/${name}`,
      scope,
      about: {
        summary,
        answers: { 200: { text: 'What it came to.', type: 'application/json', schema } },
      },
      query: NO_QUERY,
      body,
      async handle({ parts, request, runId, body: said, access }) {
        const ask = async (): Promise<Awaited<ReturnType<typeof commandRun>>> =>
          commandRun(parts, runId, toCommand(said))
        const key = idempotencyKey(request)
        const asked = hash('sha256', canonicalJson([runId, name, said]), 'base64url')
        const answered = key === null ? ask() : parts.keys.once(`${access?.id ?? ''} ${key}`, asked, ask)
        return jsonAnswer(parts.redactor, await answered)
      },
    })
}

interface SaidAnswer {
  readonly arguments_hash?: string | undefined
  readonly remember?: 'call' | 'tool' | undefined
}

function answerOptions({ arguments_hash: argumentsHash, remember }: SaidAnswer): {
  readonly argumentsHash?: string
  readonly remember?: 'call' | 'tool'
} {
  return {
    ...(argumentsHash !== undefined && { argumentsHash }),
    ...(remember !== undefined && { remember }),
  }
}
