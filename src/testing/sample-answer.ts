import type { Agent } from '../loop/agent.ts'
import { isJsonObject, parseJson } from '../protocol/json.ts'
import { sampleArguments } from './sample-arguments.ts'

/** What a model would say to an agent: words, or JSON of the format that its requests ask for. */
export function sampleAnswer(agent: Agent): string {
  if (agent.checkOutput === null) return 'That is all.'
  const { text } = agent.buildRequest({
    kind: 'initial',
    turn: 1,
    attempt: 0,
    model: 0,
    mode: 'stateless',
    previousResponseId: null,
    items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] }],
    toolCallsLeft: 1,
    isChoiceSatisfied: true,
  })
  const body = parseJson(text)
  const asked = isJsonObject(body) ? body['text'] : null
  const format = isJsonObject(asked) ? asked['format'] : null
  const schema = isJsonObject(format) ? format['schema'] : null
  return JSON.stringify(isJsonObject(schema) ? sampleArguments(schema) : {})
}
