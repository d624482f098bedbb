import { expect, onTestFinished, test, vi } from 'vitest'

import { agent } from '../../src/agent.ts'
import { LiveView } from '../../src/cli/live-view.ts'
import { terminalOn } from '../../src/cli/terminal.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { run } from '../../src/loop/run.ts'
import { collect } from '../journal/store-kit.ts'
import { ManualClock } from '../manual-clock.ts'
import { ADD, callsAnswer, scriptedModel, textAnswer, untilFrame, watchedTool } from '../scripted-model.ts'

/** What is shown of a run on a standard error that is no terminal. */
function shown(frames: readonly Frame[]): string {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  const terminal = terminalOn(process.stderr, { TERM: 'dumb' })
  const view = new LiveView({ answer: terminal, progress: terminal })
  for (const frame of frames) view.frame(frame)
  view.close()
  return write.mock.calls.map(([text]) => String(text)).join('')
}

test('a call that was cancelled while it ran took as long as it ran', async () => {
  const clock = new ManualClock()
  const { tool: add } = watchedTool(
    'add',
    (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  const live = run(agent({ model: scriptedModel([callsAnswer(1, [ADD])]), tools: [add], clock }), 'go')
  await untilFrame(live, ({ type }) => type === 'tool_started')
  clock.advance(1500)
  await live.cancel('enough')
  expect(shown(await collect(live))).toMatch(/ add \{.*\} -> cancelled, 1\.5 s/u)
})

test('a call that was denied took no time', async () => {
  const { tool: add } = watchedTool('add', () => 5, { needsApproval: true })
  const model = scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'done')])
  const live = run(agent({ model, tools: [add], clock: new ManualClock() }), 'go')
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.deny('call_1_0', 'not that one')
  expect(shown(await collect(live))).toMatch(/ add \{.*\} -> denied: not that one\n/u)
})
