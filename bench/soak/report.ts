import type { SoakOptions } from './parse-options.ts'
import type { Sample } from './sampler.ts'
import type { Soaked } from './soak.ts'
import type { Tally } from './tally.ts'
import { areMet, meanOf, secondHalf, type Verdict } from './verdicts.ts'

/** The figures of a soak and what is to be said of them, as markdown. */
export function soakReport(
  options: SoakOptions,
  { measured, tally, alarms }: Soaked,
  verdicts: readonly Verdict[],
): string {
  const { samples } = measured
  return [
    ...whatHappened(options, samples, tally),
    secondHalfText(secondHalf(samples)),
    '',
    '| measure | measured | limit | |',
    '|---|---|---|---|',
    ...verdicts.map(
      ({ what, measured: value, limit, isMet }) => `| ${what} | ${value} | ${limit} | ${word(isMet)} |`,
    ),
    '',
    '| kind of message | came to what it had to |',
    '|---|---|',
    ...Object.entries(tally.kinds)
      .sort(([, one], [, other]) => other - one)
      .map(([kind, count]) => `| ${kind} | ${count} |`),
    '',
    ...[...tally.unexpected, ...alarms].map((fault) => `- ${fault}`),
    areMet(verdicts) ? 'Everything is as it must be.' : 'Something is not as it must be.',
  ].join('\n')
}

function whatHappened(
  { conversations }: SoakOptions,
  samples: readonly Sample[],
  tally: Tally,
): readonly string[] {
  const { answered, reopened, compactions, forked, pruned } = tally
  const seconds = (samples.at(-1)?.atMs ?? 0) / 1000
  return [
    `${conversations} conversations at a time for ${(seconds / 60).toFixed(1)} minutes, ${tally.conversations} in all: ` +
      `${answered} messages, ${(answered / Math.max(1, seconds)).toFixed(1)} a second, ` +
      `the slowest ${(tally.slowestMs / 1000).toFixed(1)} s.`,
    `Closed and opened again ${reopened} times, ${compactions} compactions that were asked for, ${forked} forks; ` +
      `${pruned} logs pruned, ${tally.prunedSlowestMs.toFixed(0)} ms at the longest.`,
  ]
}

function secondHalfText(samples: readonly Sample[]): string {
  const mean = (figure: (sample: Sample) => number): string => meanOf(samples.map(figure)).toFixed(0)
  return (
    `In the second half: ${mean(({ cpuShare }) => cpuShare * 100)} % of a core, ` +
    `${mean(({ waitShare }) => waitShare * 100)} % of the time work and no core for it; ` +
    `RSS ${mean(({ rssMb }) => rssMb)} MB, heap ${mean(({ heapTotalMb }) => heapTotalMb)} MB ` +
    `and ${mean(({ heapMb }) => heapMb ?? 0)} MB after collections, store ${mean(({ fileMb }) => fileMb)} MB.`
  )
}

function word(isMet: boolean | null): string {
  if (isMet === null) return '-'
  return isMet ? 'ok' : 'missed'
}
