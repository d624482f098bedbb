// The provider of the soak, in a process of its own: it says what each message asks for. Tells its parent where it is,
// and ends with it.
import type { RecordedRequest } from '../../src/provider/scripted/endpoint.ts'
import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { modelTurn, readAsked, SUMMARY } from './model-turn.ts'

// As many messages as can be under way, many times over.
const ATTEMPTS_KEPT = 5_000

/** How often each request was made, the newest last. */
const attempts = new Map<string, number>()

const provider = await startScriptedProvider(
  (request) => {
    // It keeps what it is asked, for tests; nobody looks here.
    ;(provider.requests as RecordedRequest[]).length = 0
    const asked = readAsked(request)
    if (asked === null) return SUMMARY
    const key = `${asked.directive.id}/${asked.done}`
    const attempt = (attempts.get(key) ?? 0) + 1
    attempts.set(key, attempt)
    const [oldest = key] = attempts.keys()
    if (attempts.size > ATTEMPTS_KEPT) attempts.delete(oldest)
    return modelTurn(asked, attempt)
  },
  { compact: {} },
)

// Ctrl-C goes to every process of a terminal; the parent ends this one when it is done with it.
process.on('SIGINT', () => undefined)
process.on('disconnect', () => process.exit())
process.send?.({ url: provider.url })
