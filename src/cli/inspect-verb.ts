import { LoopchartError } from '../errors.ts'
import { Redactor } from '../frames/redactor.ts'
import { createService } from '../server/create-service.ts'
import { withInspectedLog, type InspectedLog } from './inspect-log.ts'
import { streamLog, type StreamFlags } from './inspect-stream.ts'
import { parsePort } from './parse-port.ts'
import { safeJson } from './safe-text.ts'
import { sayTo } from './say-to.ts'
import { listSecrets } from './secrets.ts'
import { newToken } from './serve-tokens.ts'
import { pageAddress, serveUntilTold } from './serve-until-told.ts'
import { loadSettings } from './settings.ts'
import type { StoreFlags } from './store-option.ts'

export interface InspectFlags extends StoreFlags, StreamFlags {
  readonly port?: string
  readonly json?: true
}

/** Shows a log on a page, or sends what it shows elsewhere, for `loopchart inspect`; resolves with the exit code. */
export async function inspectVerb(given: string, flags: InspectFlags): Promise<number> {
  const isStreamed = flags.ndjson !== undefined || flags.stately !== undefined
  checkInspectFlags(flags, isStreamed)
  const settings = await loadSettings({}, process.env)
  const secrets = listSecrets(settings)
  return withInspectedLog(given, flags, settings, (log) => {
    if (!isStreamed) return servePage(log, flags, secrets)
    const redactor = new Redactor(secrets)
    return streamLog(log, flags, redactor, sayTo(process.stderr, redactor))
  })
}

function checkInspectFlags({ port, json, ndjson, stately }: InspectFlags, isStreamed: boolean): void {
  parsePort(port)
  const given = port === undefined ? json && '--json' : '--port'
  if (isStreamed && given !== undefined) {
    throw new LoopchartError('usage', `${given} is about the page, which is not served here; leave it out`)
  }
  if (ndjson === '') throw new LoopchartError('usage', '--ndjson: a file must have a name')
  if (stately !== undefined && !/^wss?:$/u.test(URL.parse(stately)?.protocol ?? '')) {
    throw new LoopchartError('usage', '--stately must be an address that begins with ws:// or wss://')
  }
}

function servePage(
  { store, runId }: InspectedLog,
  flags: InspectFlags,
  known: readonly string[],
): Promise<number> {
  const token = newToken()
  const secrets = [...known, token]
  const say = sayTo(process.stderr, new Redactor(secrets))
  const service = createService({
    agents: {},
    store,
    auth: { tokens: [{ token, scopes: ['read'] }] },
    secrets,
    log: say,
  })
  return serveUntilTold(service, {
    place: { host: '127.0.0.1', port: parsePort(flags.port) },
    announce: (url) => {
      const page = pageAddress(url, token, runId)
      const said = safeJson(JSON.stringify({ url, page, token, run_id: runId }))
      process.stdout.write(`${flags.json === true ? said : page}\n`)
    },
    say,
  })
}
