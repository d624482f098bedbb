import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import type { Figure } from './decode.ts'
import { median } from './measure.ts'

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

/** How long importing the decoder takes in a fresh process, on top of what Node itself needs. */
export function importFigure(): Figure {
  const decoder = new URL('../dist/src/loop/record-response.js', import.meta.url).href
  const profile = new URL('../dist/src/protocol/tolerant.js', import.meta.url).href
  const code = `const t=performance.now();await import('${decoder}');await import('${profile}');console.log(performance.now()-t)`
  const times = Array.from({ length: 15 }, () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })),
  )
  return {
    id: 'decoder_import_ms',
    value: median(times),
    unit: 'ms',
    budget: 30,
    about: 'median of 15 processes',
  }
}

function mib(bytes = 0): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`
}
