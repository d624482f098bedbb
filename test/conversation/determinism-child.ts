// Sends one more message in the conversation of a store, in a process of its own: node determinism-child.ts STORE
// Prints what the run was told as one line of JSON.
import { nextContext } from './determinism-kit.ts'

const [, , store = ''] = process.argv
const { bundleId, selection, body } = await nextContext(store)
// Shows that the surroundings are those that were asked for.
const around = { zone: new Date(0).getTimezoneOffset(), number: (1234.5).toLocaleString() }
process.stdout.write(`${JSON.stringify({ bundleId, selection, body, around })}\n`)
