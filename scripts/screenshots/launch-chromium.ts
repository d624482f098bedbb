import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

import { chromium, type Browser } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

// It asks nobody for updates, and draws the same without a graphics card.
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

/** Starts the Chromium of this machine, without a window; null where there is none. */
export async function launchChromium(): Promise<Browser | null> {
  const executablePath = chromiumPath()
  return executablePath === null ? null : chromium.launch({ executablePath, args: SWITCHES })
}

function chromiumPath(): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  return paths.find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
