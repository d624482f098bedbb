import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent } from '../agent.ts'
import { openResponses } from '../provider/open-responses.ts'
import { startScriptedProvider } from '../provider/scripted/start-scripted-provider.ts'
import { builtinTools } from '../tools/builtin/builtin-tools.ts'
import { demoScript } from './demo-script.ts'
import { LiveView } from './live-view.ts'
import { Redactor } from '../frames/redactor.ts'
import { runSession } from './run-session.ts'
import { terminalOn } from './terminal.ts'

const PROMPT = 'How many words are in the notes of this workspace?'

const FILES: Readonly<Record<string, string>> = {
  'ideas.md': '# Ideas\n\nA loop that can say where it is.\nA log that can be read again.\n',
  'plan.txt': 'Draw the chart first.\nThen write what the chart needs from outside.\nThen try to break it.\n',
}

/** Shows a run of three turns on a workspace made for it, then three things to try; resolves with the exit code. */
export async function demo(command: string): Promise<number> {
  const output = terminalOn(process.stdout, process.env)
  const folder = await mkdtemp(join(tmpdir(), 'loopchart-demo-'))
  const [workspace, stateFolder] = [join(folder, 'notes'), join(folder, 'state')]
  const provider = await startScriptedProvider(demoScript)
  try {
    await mkdir(workspace)
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(workspace, name), text)
    say(output.paint('bold', `> ${PROMPT}`))
    say(output.paint('dim', `a scripted provider answers at ${provider.url}; no key, no network`))
    const model = openResponses({ model: 'scripted-1', baseUrl: provider.url, apiKey: '' })
    const tools = await builtinTools({ workspace, stateFolder })
    const code = await runSession({
      agent: agent({ model, tools: tools.filter(({ readOnly }) => readOnly), limits: { turns: 10 } }),
      input: PROMPT,
      view: new LiveView({ answer: output, progress: output }),
      log: null,
      redactor: new Redactor([]),
      approve: 'none',
      terminal: null,
    })
    if (code === 0) say(`\n${nextSteps(command).join('\n')}`)
    return code
  } finally {
    await provider.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function nextSteps(command: string): readonly string[] {
  return [
    'Try next:',
    `  ${command} run "What is in here?" --provider scripted      the same on this folder`,
    `  ${command} diagram --format ascii                          every state that a run can be in`,
    `  ${command} run "Say hello." --base-url URL --model NAME    with a provider of yours`,
  ]
}
