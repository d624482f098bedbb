import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent, run } from 'loopchart'
import { ndjsonFile, statelyView } from 'loopchart/inspect'

import { recordedModel } from './recorded-model.ts'

const path = join(mkdtempSync(join(tmpdir(), 'loopchart-')), 'run.ndjson')
const file = ndjsonFile(path)

// In Node, connectStately('ws://localhost:8080') takes the place of this; in a page, an adapter of @statelyai/inspect does.
const adapter = { send: (event: { type: string }) => console.log('to Stately:', event.type) }
const stately = statelyView(adapter, { notify: (notice) => console.log(notice.slice(0, 48)) })

const { result } = run(agent({ model: recordedModel('text') }), 'what is 2+3?', {
  inspect: (event) => {
    file.inspect(event)
    stately(event)
  },
})
await result
file.close()

const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
console.log('in the file, with the microsteps:', lines.length)
