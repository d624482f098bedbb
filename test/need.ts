import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import type { TestContext } from 'vitest'

/** A part that a test may need and a machine may lack. */
export type Part = 'chromium' | 'bubblewrap' | 'ripgrep' | 'root' | 'registry' | 'script' | 'build'

/** What `need` asks about the machine; a test of `need` gives its own. */
export interface Machine {
  /** Whether a missing part is a failure, as where the whole suite must run. */
  readonly requireAll: boolean
  has(part: Part): boolean
}

/**
 * Skips the test, with the reason, when the machine lacks a part. With LOOPCHART_REQUIRE_ALL=1 it throws
 * instead, and says how to get the part: a suite that must run whole cannot go green by leaving tests out.
 */
export function need(context: Pick<TestContext, 'skip'>, part: Part, machine: Machine = thisMachine): void {
  if (machine.has(part)) return
  const { missing, remedy } = PARTS[part]
  if (machine.requireAll) throw new Error(`${missing}; LOOPCHART_REQUIRE_ALL is 1; ${remedy}`)
  context.skip(missing)
}

interface PartFacts {
  readonly missing: string
  readonly remedy: string
  readonly isPresent: () => boolean
}

const REGISTRY_TIMEOUT_MS = 20_000

const PARTS: Readonly<Record<Part, PartFacts>> = {
  chromium: {
    missing: 'chromium is not installed',
    remedy: 'install it with `apt-get install chromium`',
    isPresent: () => ['chromium', 'chromium-browser', 'google-chrome'].some(isOnPath),
  },
  bubblewrap: {
    missing: 'bubblewrap is not installed or may not make a sandbox here',
    remedy:
      'install it with `apt-get install bubblewrap`, on a machine that lets `bwrap --ro-bind / / true` run',
    isPresent: () => isOnPath('bwrap') && succeeds('bwrap', ['--ro-bind', '/', '/', 'true'], 10_000),
  },
  ripgrep: {
    missing: 'ripgrep is not installed',
    remedy: 'install it with `apt-get install ripgrep`',
    isPresent: () => isOnPath('rg'),
  },
  root: {
    missing: 'the tests do not run as root',
    remedy: 'run them as root, for example in a container',
    isPresent: () => process.getuid?.() === 0,
  },
  registry: {
    missing: 'no npm registry answers',
    remedy: 'connect the machine, or point `npm config set registry` at a registry that it reaches',
    isPresent: () =>
      succeeds(
        'npm',
        ['view', 'node', 'name', '--prefer-online', '--fetch-retries=0', '--fetch-timeout=15000'],
        REGISTRY_TIMEOUT_MS,
      ),
  },
  script: {
    missing: 'there is no `script` command to make a terminal with',
    remedy: 'install it with `apt-get install bsdutils`',
    isPresent: () => isOnPath('script'),
  },
  build: {
    missing: 'dist/ is not built',
    remedy: 'make it with `npm run build`',
    isPresent: () => existsSync(new URL('../dist/src', import.meta.url)),
  },
}

const known = new Map<Part, boolean>()

const thisMachine: Machine = {
  get requireAll() {
    return process.env['LOOPCHART_REQUIRE_ALL'] === '1'
  },
  has(part) {
    const answer = known.get(part) ?? PARTS[part].isPresent()
    known.set(part, answer)
    return answer
  },
}

function isOnPath(command: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function succeeds(command: string, parameters: readonly string[], timeoutMs: number): boolean {
  return (
    spawnSync(command, parameters, { stdio: 'ignore', timeout: timeoutMs, killSignal: 'SIGKILL' }).status ===
    0
  )
}
