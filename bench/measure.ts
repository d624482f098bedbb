// No forced collection between runs: it throws compiled code away with the garbage, and no program does that.

/** Runs alternately, so that whatever else the machine does falls on all of them alike, and gives CPU microseconds a run. */
export function measureCpu(
  rounds: number,
  runs: Readonly<Record<string, () => void>>,
): Record<string, number[]> {
  const times: Record<string, number[]> = {}
  for (const name of Object.keys(runs)) times[name] = []
  // A first third is for the compiler and does not count.
  for (let round = -Math.ceil(rounds / 2); round < rounds; round += 1) {
    for (const [name, run] of Object.entries(runs)) {
      const before = process.cpuUsage()
      run()
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) times[name]?.push(user + system)
    }
  }
  return times
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The median of the ratios of runs that were made side by side. */
export function pairedRatio(times: readonly number[], floor: readonly number[]): number {
  return median(times.map((time, at) => time / (floor[at] ?? Number.NaN)))
}
