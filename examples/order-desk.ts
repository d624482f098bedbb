import { Buffer } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'

import { agent, tool, type Model } from 'loopchart'
import { loopInput, loopMachine, provideLoop, type LoopOutput } from 'loopchart/machine'
import { assign, createActor, fromPromise, setup, toPromise } from 'xstate'
import { z } from 'zod'

interface Order {
  readonly id: string
  readonly article: string
  readonly pieces: number
}

// The order: an ordinary machine of yours, in which asking the agent is one state among others.
const orderMachine = setup({
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-assertion -- XState's way
  types: {} as {
    context: { order: Order; note: string }
    events: { type: 'order.place' } | { type: 'order.approve' } | { type: 'order.withdraw' }
    input: Order
    output: string
    children: { agent: 'askAgent' }
  },
  actors: {
    askAgent: loopMachine,
    ship: fromPromise<string, Order>(async ({ input }) => `${input.pieces} x ${input.article} on the way`),
  },
  guards: {
    isToShip: (_, answer: LoopOutput) => answer.state === 'done' && Verdict.parse(answer.output).canShip,
    isAnswered: (_, answer: LoopOutput) => answer.state === 'done',
  },
  actions: {
    note: assign((_, { note }: { note: string }) => ({ note })),
    noteVerdict: assign((_, answer: LoopOutput) => ({ note: Verdict.parse(answer.output).note })),
  },
}).createMachine({
  context: ({ input }) => ({ order: input, note: '' }),
  initial: 'receiving',
  output: ({ context }) => context.note,
  // Leaving a state stops its child: an order that is withdrawn takes the request or tool that is out with it.
  on: { 'order.withdraw': '.withdrawn' },
  states: {
    receiving: { on: { 'order.place': 'asking' } },
    asking: {
      invoke: {
        id: 'agent',
        src: 'askAgent',
        input: ({ context: { order } }) => loopInput(desk, `Can we ship ${order.pieces} x ${order.article}?`),
        onDone: [
          {
            guard: { type: 'isToShip', params: ({ event }) => event.output },
            target: 'approving',
            actions: { type: 'noteVerdict', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'isAnswered', params: ({ event }) => event.output },
            target: 'refused',
            actions: { type: 'noteVerdict', params: ({ event }) => event.output },
          },
          {
            // The loop never rejects: a limit, a failure and a cancel are outputs with a reason.
            target: 'unanswered',
            actions: { type: 'note', params: ({ event }) => ({ note: event.output.message }) },
          },
        ],
      },
    },
    approving: { on: { 'order.approve': 'shipping' } },
    shipping: {
      invoke: {
        src: 'ship',
        input: ({ context }) => context.order,
        onDone: {
          target: 'shipped',
          actions: { type: 'note', params: ({ event }) => ({ note: event.output }) },
        },
      },
    },
    shipped: { type: 'final' },
    refused: { type: 'final' },
    unanswered: { type: 'final' },
    withdrawn: { type: 'final' },
  },
})

// The agent: it counts the stock with a tool, and answers in a format that the machine can read.
const Verdict = z.object({ canShip: z.boolean(), note: z.string() })
const stock = new Map([['lamp', 12]])
const countStock = tool({
  name: 'count_stock',
  description: 'Count how many pieces of an article are in stock.',
  inputSchema: z.object({ article: z.string() }),
  readOnly: true,
  execute: ({ article }) => {
    console.log(`  count_stock finds ${stock.get(article) ?? 0} x ${article}`)
    return stock.get(article) ?? 0
  },
})
const lookUp = {
  type: 'function_call',
  call_id: 'call_1',
  name: 'count_stock',
  arguments: '{"article":"lamp"}',
}
const desk = agent({
  model: recordedModel([
    lookUp,
    messageItem({ canShip: true, note: '12 are in stock' }),
    lookUp,
    messageItem({ canShip: false, note: 'only 12 are in stock' }),
  ]),
  instructions: 'Say whether an order can be shipped from stock.',
  tools: [countStock],
  output: { name: 'verdict', schema: Verdict },
})

for (const order of [
  { id: 'order_1', article: 'lamp', pieces: 2 },
  { id: 'order_2', article: 'lamp', pieces: 40 },
]) {
  // A machine for each run: `runId` is what the idempotency keys of its tools begin with.
  const machine = orderMachine.provide({ actors: { askAgent: provideLoop(desk, { runId: order.id }) } })
  const actor = createActor(machine, { input: order })
  actor.subscribe(({ value, children }) => {
    console.log(order.id, value)
    if (value === 'asking')
      children.agent?.subscribe((loop) => console.log('  loop', JSON.stringify(loop.value)))
    if (value === 'approving') actor.send({ type: 'order.approve' }) // somebody says yes
  })
  actor.start().send({ type: 'order.place' })
  console.log(order.id, 'ended:', await toPromise(actor))
}

/** Stands in for a provider: answers each request with the next item, as the bytes of a recorded stream. */
function recordedModel(items: readonly object[]): Model {
  let answered = 0
  return {
    name: 'recorded-1',
    endpoint: 'in this process',
    isStreamed: true,
    canContinueById: true,
    send: async ({ onHead, onChunk }) => {
      const item = items[answered]
      answered += 1
      const response = { id: `resp_${answered}`, status: 'completed', output: [item] }
      const events = [
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response },
      ]
      await setImmediate() // a real one takes its time
      onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      for (const event of events) onChunk(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
      return null
    },
  }
}

function messageItem(verdict: z.infer<typeof Verdict>): object {
  const content = [{ type: 'output_text', text: JSON.stringify(verdict), annotations: [] }]
  return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }
}
