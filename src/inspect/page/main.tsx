// The page of the service: it starts with what its address says, and takes the token out of it first.
import { render } from 'preact'

import './styles/base.css'
import './styles/list.css'
import './styles/run.css'
import './styles/chart.css'
import './styles/timeline.css'
import './styles/scrubber.css'
import './styles/dialog.css'
import './panels/panels.css'
import './panels/conversation.css'
import './panels/details.css'
import './panels/usage.css'
import './panels/explain.css'
import './panels/actions.css'
import './panels/compare.css'
import './panels/small-screens.css'
import { App } from './app.tsx'
import { formatRoute, parseOpening } from './route.ts'

const TOKEN_KEY = 'loopchart.token'

const opening = parseOpening(location.hash)
// Before anything else: a token in the address would stay in the history and in what is copied.
history.replaceState(null, '', formatRoute(opening.route))
if (opening.token !== null) keepToken(opening.token)

// Preact moves elements with moveBefore where there is one. Chromium then forgets what a class that was changed in the same
// drawing means for the elements inside: rows of a list would keep the colours of the frames that they showed before.
Reflect.deleteProperty(Element.prototype, 'moveBefore')

const root = document.querySelector('#app')
if (root !== null) {
  const token = opening.token ?? keptToken()
  render(<App opening={{ ...opening, token }} keepToken={keepToken} />, root)
}

/** A browser that keeps nothing still shows the page, until it is loaded again. */
function keepToken(token: string): void {
  try {
    sessionStorage.setItem(TOKEN_KEY, token)
  } catch {
    // The token stays in memory.
  }
}

function keptToken(): string | null {
  try {
    return sessionStorage.getItem(TOKEN_KEY)
  } catch {
    return null
  }
}
