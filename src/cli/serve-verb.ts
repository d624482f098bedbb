import { Redactor } from '../frames/redactor.ts'
import { openStore } from '../journal/open-store.ts'
import { createService } from '../server/create-service.ts'
import { checkFlags } from './check-flags.ts'
import { openLog } from './log.ts'
import type { RunFlags } from './run-flags.ts'
import { countOf } from './run-figures.ts'
import { safeJson } from './safe-text.ts'
import { sayTo } from './say-to.ts'
import { listSecrets } from './secrets.ts'
import { withServedAgents } from './serve-agents.ts'
import { logRuns } from './serve-log.ts'
import { pageAddress, serveUntilTold } from './serve-until-told.ts'
import { parsePlace, type Place, type PlaceFlags } from './serve-place.ts'
import { isReading, readTokens, type ServeToken } from './serve-tokens.ts'
import { loadSettings } from './settings.ts'
import { knownStorePath } from './store-option.ts'

export interface ServeFlags extends Omit<RunFlags, 'agent'>, PlaceFlags {
  readonly agent?: readonly string[]
  readonly allowHost?: readonly string[]
}

/** Serves agents over HTTP until somebody ends it, for `loopchart serve`; resolves with the exit code. */
export async function serveVerb(flags: ServeFlags): Promise<number> {
  const { agent: files = [], ...others } = flags
  const place = parsePlace(flags)
  for (const agent of files) checkFlags({ ...others, agent })
  checkFlags(others)
  const settings = await loadSettings(flags, process.env)
  const tokens = await readTokens(flags.tokenFile)
  const secrets = [...listSecrets(settings), ...tokens.map(({ token }) => token)]
  const redactor = new Redactor(secrets)
  const say = sayTo(process.stderr, redactor)
  const { log_level: level = 'silent', log_file: file } = settings.config
  const log = await openLog({ level, file, redactor })
  const store = openStore(knownStorePath(flags, settings))
  try {
    return await withServedAgents(flags, settings, async ({ agents, notes }) => {
      for (const note of notes) say(note)
      const hosts = flags.allowHost ?? []
      const runLog = log === null ? {} : { onRun: logRuns(log, redactor) }
      const service = createService({
        agents,
        store,
        auth: { tokens },
        hosts,
        secrets,
        log: (line) => {
          say(line)
          log?.warn(line)
        },
        ...runLog,
      })
      const announce = (url: string): void => {
        const shown = shownTokens(tokens, flags.tokenFile)
        const names = Object.keys(agents)
        const more = { token_file: flags.tokenFile ?? null, agents: names, store: store.path }
        if (flags.json === true) writeJsonLine(url, shown, more)
        else writeAddresses(url, shown)
        say(`serving ${names.join(', ')}; runs are kept in ${store.path}`)
        if (place.isRemote) say(remoteWarning(place))
      }
      const onListening = async (): Promise<void> => {
        const resumed = await service.resumeAll()
        if (resumed.length > 0) say(`${countOf(resumed.length, 'run')} that had not ended went on`)
      }
      const onTold = (): void => {
        say('stopping; calls that are at work have 3 seconds to end, a second signal ends it at once')
      }
      return serveUntilTold(service, { place, announce, onListening, onTold, say })
    })
  } finally {
    log?.close()
    store.close()
  }
}

type Shown = Readonly<Record<string, string>>

const WORD_LENGTH = 'approve'.length

/**
 * The tokens that are printed, by a word for each: the first that may only read, and the first that may do all. Those of
 * a file are printed on a terminal alone: elsewhere they may end up in the log of whatever started this.
 */
function shownTokens(tokens: readonly ServeToken[], tokenFile: string | undefined): Shown | null {
  if (tokenFile !== undefined && !process.stdout.isTTY) return null
  const reading = tokens.find(isReading)
  const approving = tokens.find(({ scopes: [scope] }) => scope === 'approve')
  return {
    ...(reading === undefined ? {} : { read: reading.token }),
    ...(approving === undefined ? {} : { approve: approving.token }),
  }
}

function writeAddresses(url: string, shown: Shown | null): void {
  const lines = Object.entries(shown ?? {}).map(
    ([word, token]) => `${word.padEnd(WORD_LENGTH)}  ${pageAddress(url, token)}\n`,
  )
  process.stdout.write(shown === null ? `${pageAddress(url, null)}\n` : lines.join(''))
}

/** In one line, so that whoever started this has all of it by the first line end. */
function writeJsonLine(url: string, shown: Shown | null, more: Readonly<Record<string, unknown>>): void {
  const pages = Object.entries(shown ?? {}).map(([word, token]) => [word, pageAddress(url, token)] as const)
  const said = {
    url,
    page: pageAddress(url, null),
    pages: shown === null ? null : Object.fromEntries(pages),
    tokens: shown,
    ...more,
  }
  process.stdout.write(`${safeJson(JSON.stringify(said))}\n`)
}

function remoteWarning({ host }: Place): string {
  return (
    `others can reach ${host}, and this is plain HTTP: whoever is on the way can read tokens and runs; ` +
    'put a proxy with TLS in front'
  )
}
