/**
 * Says so when this Node is older than what a package needs, by its `engines`; null: it is not. Whoever goes on anyway
 * meets what is missing somewhere in the middle of a run.
 */
export function nodeFault(version: string, needed: string): string | null {
  const least = needed.replace('>=', '')
  if (!isOlder(version, least)) return null
  return `this is Node ${version}, and ${least} or newer is needed: install one; in a clone, npx loopchart uses its own`
}

function isOlder(version: string, least: string): boolean {
  const [given, needed] = [numbersOf(version), numbersOf(least)]
  const differs = needed.findIndex((number, at) => number !== given[at])
  return differs !== -1 && (given[differs] ?? 0) < (needed[differs] ?? 0)
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map(Number)
}
