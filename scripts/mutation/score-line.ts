import { existsSync, readFileSync } from 'node:fs'

import { z } from 'zod'

const report = z.object({
  files: z.record(z.string(), z.object({ mutants: z.array(z.object({ status: z.string() })) })),
})

/** One line on a report of Stryker: the score, and the mutants that it is made of. */
export function scoreLine(file: string): string {
  if (!existsSync(file)) return 'no score: the run did not get to its end'
  const { files } = report.parse(JSON.parse(readFileSync(file, 'utf8')))
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const count = (...wanted: readonly string[]): number =>
    statuses.filter((status) => wanted.includes(status)).length
  const killed = count('Killed', 'Timeout')
  const survived = count('Survived', 'NoCoverage')
  const score = ((100 * killed) / (killed + survived)).toFixed(2)
  return `${score} % (${killed} killed, ${survived} survived, ${count('Ignored')} ignored)`
}
