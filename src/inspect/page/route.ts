import { NO_FILTER, type RunFilter } from './run-filter.ts'

/** What the page shows, as its address says it. The token is never a part of it. */
export type Route =
  | { readonly view: 'runs'; readonly filter: RunFilter }
  | {
      readonly view: 'run'
      readonly runId: string
      /** The frame to stop at; null follows the run. */
      readonly at: number | null
      readonly panel: string | null
    }

/** What the page was opened with. */
export interface Opening {
  /** Null when the address has none. */
  readonly token: string | null
  readonly route: Route
}

/** Reads the fragment that the page is opened with: `#token=T&run=ID`, or an address that {@link formatRoute} made. */
export function parseOpening(fragment: string): Opening {
  const text = fragment.replace(/^#/, '')
  if (text.startsWith('/')) return { token: null, route: parseRoute(fragment) }
  const values = new URLSearchParams(text)
  const runId = values.get('run')
  const at = seqOf(values.get('at'))
  return {
    token: values.get('token') || null,
    route: runId ? { view: 'run', runId, at, panel: null } : { view: 'runs', filter: NO_FILTER },
  }
}

/** Reads an address; one that cannot be read is the list of runs. */
export function parseRoute(fragment: string): Route {
  const [path = '', search = ''] = fragment.replace(/^#/, '').split('?', 2)
  const values = new URLSearchParams(search)
  const runId = /^\/runs\/([^/]+)$/.exec(path)?.[1]
  if (runId !== undefined) {
    return { view: 'run', runId: decoded(runId), at: seqOf(values.get('at')), panel: values.get('panel') }
  }
  return {
    view: 'runs',
    filter: {
      text: values.get('q') ?? '',
      state: values.get('state') ?? '',
      status: values.get('status') ?? '',
      needsPerson: values.get('needs') === 'person',
    },
  }
}

/** The address of what is shown, from `#` on. */
export function formatRoute(route: Route): string {
  const values = new URLSearchParams()
  if (route.view === 'run') {
    if (route.at !== null) values.set('at', String(route.at))
    if (route.panel !== null) values.set('panel', route.panel)
    return `#/runs/${encodeURIComponent(route.runId)}${searchText(values)}`
  }
  const { text, state, status, needsPerson } = route.filter
  if (text !== '') values.set('q', text)
  if (state !== '') values.set('state', state)
  if (status !== '') values.set('status', status)
  if (needsPerson) values.set('needs', 'person')
  return `#/runs${searchText(values)}`
}

function searchText(values: URLSearchParams): string {
  return values.size === 0 ? '' : `?${values.toString()}`
}

function seqOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** What is not well encoded is taken as it stands: the service then says that there is no such run. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
