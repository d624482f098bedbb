import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import type { Figure } from './decode.ts'
import { installedBytes, installedPackages } from './installed.ts'
import { median } from './measure.ts'

const ROUNDS = 25
const MB = 1_000_000

const root = fileURLToPath(new URL('../', import.meta.url))
const entry = new URL('../dist/src/index.js', import.meta.url).href
const command = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url))

const BARE = ['--eval', '0']
const IMPORT = ['--input-type=module', '--eval', `await import('${entry}')`]
const VERSION = [command, '--version']

/** What 100 MB of stream with 5 MB of text adds to a process that keeps only what the reader keeps. */
export function memoryFigure(): Figure {
  const child = fileURLToPath(new URL('memory-child.ts', import.meta.url))
  const printed = execFileSync(process.execPath, ['--expose-gc', child], { encoding: 'utf8' })
  const { sent, text, kept, status, riseMiB } = JSON.parse(printed) as Record<string, number>
  if (String(status) !== 'completed' || (kept ?? 0) < (text ?? 0)) throw new Error(`not decoded: ${printed}`)
  return {
    id: 'decode_100mb_rss',
    value: riseMiB ?? Number.NaN,
    unit: 'MiB',
    budget: 64,
    about: `${mib(sent)} sent, ${mib(text)} of text`,
  }
}

/** What 500 runs of 5 turns at once add to an idle process, their logs in memory included. */
export function manyRunsFigure(): Figure {
  const child = fileURLToPath(new URL('runs-child.ts', import.meta.url))
  const printed = execFileSync(process.execPath, ['--expose-gc', child], { encoding: 'utf8' })
  const { riseMiB } = JSON.parse(printed) as Record<string, number>
  return {
    id: 'runs_500_rss',
    value: riseMiB ?? Number.NaN,
    unit: 'MiB',
    budget: 256,
    about: '500 runs of 5 turns',
  }
}

/** What a run of 5 turns that is over leaves to the next collection of everything. */
export function leftBehindFigures(): readonly Figure[] {
  const child = fileURLToPath(new URL('left-behind-child.ts', import.meta.url))
  // Room enough for no collection of everything to come while it is measured: it would take what is to be counted.
  const parameters = ['--expose-gc', '--initial-old-space-size=512', child]
  const printed = execFileSync(process.execPath, parameters, { encoding: 'utf8' })
  const { busy, waiting, stored } = JSON.parse(printed) as Record<string, number>
  const about = 'bytes of a run of 5 turns that small collections cannot take'
  return [
    { id: 'left_behind_bytes', value: busy ?? Number.NaN, unit: 'B', budget: 8192, about },
    {
      id: 'left_behind_waiting_bytes',
      value: waiting ?? Number.NaN,
      unit: 'B',
      budget: 80 * 1024,
      about: `${about}, old by the time that each response comes`,
    },
    {
      id: 'left_behind_stored_bytes',
      value: stored ?? Number.NaN,
      unit: 'B',
      budget: 16 * 1024,
      about: `${about}, with its log in a file`,
    },
  ]
}

/**
 * What it costs to have the package: to import it and to start its command, each in a fresh process, and to install it.
 * Times are the least of many rounds: whatever else the machine does only adds to them.
 */
export function importFigures(): readonly Figure[] {
  const times = { bare: [] as number[], import: [] as number[], version: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    times.bare.push(wallMs(BARE))
    times.import.push(wallMs(IMPORT))
    times.version.push(wallMs(VERSION))
  }
  const [bareMs, medianMs] = [Math.min(...times.bare), median(times.bare)]
  return [
    {
      id: 'import_ms',
      value: Math.min(...times.import) - bareMs,
      unit: 'ms',
      budget: 60,
      about: `beside ${ms(bareMs)} of bare Node; by medians ${ms(median(times.import) - medianMs)}`,
    },
    rssFigure(),
    {
      id: 'version_ms',
      value: Math.min(...times.version),
      unit: 'ms',
      budget: 90,
      about: `the whole process, bare Node included; by medians ${ms(median(times.version))}`,
    },
    ...installFigures(),
  ]
}

function wallMs(parameters: readonly string[]): number {
  const start = performance.now()
  const { status } = spawnSync(process.execPath, parameters, { cwd: root, stdio: 'ignore' })
  const elapsed = performance.now() - start
  if (status !== 0) throw new Error(`node ${parameters.join(' ')} ended with ${String(status)}`)
  return elapsed
}

function rssFigure(): Figure {
  const print = 'console.log(process.memoryUsage.rss())'
  const rises = Array.from({ length: 5 }, () => {
    const bare = rssBytes(['--input-type=module', '--eval', print])
    return rssBytes(['--input-type=module', '--eval', `await import('${entry}');${print}`]) - bare
  })
  return {
    id: 'import_rss_mb',
    value: median(rises) / MB,
    unit: 'MB',
    budget: 30,
    about: 'beside bare Node, median of 5 processes',
  }
}

function rssBytes(parameters: readonly string[]): number {
  return Number(execFileSync(process.execPath, parameters, { cwd: root, encoding: 'utf8' }))
}

function installFigures(): readonly Figure[] {
  const packages = installedPackages(root)
  return [
    {
      id: 'install_packages',
      value: packages.length + 1,
      unit: '',
      budget: 50,
      about: 'without development dependencies',
    },
    {
      id: 'install_mb',
      value: installedBytes(root, packages) / MB,
      unit: 'MB',
      budget: 30,
      about: 'on the disk, in its blocks',
    },
  ]
}

function mib(bytes = 0): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`
}
