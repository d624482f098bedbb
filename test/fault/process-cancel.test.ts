import { expect, test } from 'vitest'

import { need } from '../need.ts'
import { mark, pidsWith, run, until } from '../tools/process/command-kit.ts'
import { HOSTILE_SCRIPTS } from './toolbox/hostile-scripts.ts'

const COMMANDS = 100
const AT_ONCE = 4
const SETTLED_MS_MAX = 2000

interface Cancelled {
  readonly tookMs: number
  readonly kind: string
  readonly survivors: number
  readonly seconds: string
}

async function cancel(script: string, isSandboxed: boolean): Promise<Cancelled> {
  const seconds = mark()
  const abort = new AbortController()
  let abortedAtMs = Number.NaN
  const onOutput = (_: string, text: string): void => {
    if (!text.includes('ready') || abort.signal.aborted) return
    abortedAtMs = performance.now()
    abort.abort()
  }
  const options = { isSandboxed, onOutput, signal: abort.signal }
  const { ending, survivors } = await run(script.replaceAll('@', seconds), options)
  return { tookMs: performance.now() - abortedAtMs, kind: ending.kind, survivors, seconds }
}

test(
  `faults T03 to T05: ${COMMANDS} hostile commands, half of them in the sandbox, each settle within 2 s of their abort and leave nothing`,
  { timeout: 180_000 },
  async (context) => {
    need(context, 'bubblewrap')
    const scripts = Object.values(HOSTILE_SCRIPTS)
    const jobs = Array.from({ length: COMMANDS }, (_, at) => ({
      script: scripts[Math.floor(at / 2) % scripts.length] ?? '',
      isSandboxed: at % 2 === 0,
    }))
    const cancelled: Cancelled[] = []
    const worker = async (): Promise<void> => {
      for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
        cancelled.push(await cancel(job.script, job.isSandboxed))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, () => worker()))
    expect(cancelled).toHaveLength(COMMANDS)
    expect(new Set(cancelled.map(({ kind }) => kind))).toEqual(new Set(['aborted']))
    expect(cancelled.filter(({ survivors }) => survivors > 0)).toEqual([])
    const tookMs = cancelled.map((each) => each.tookMs).sort((a, b) => a - b)
    const p99 = tookMs[COMMANDS - 2] ?? Number.NaN
    await context.annotate(`p50 ${tookMs[COMMANDS / 2]?.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`)
    expect(p99).toBeLessThanOrEqual(SETTLED_MS_MAX)
    await until(
      () => cancelled.every(({ seconds }) => pidsWith(seconds).length === 0),
      'no process of any command is left',
    )
  },
)
