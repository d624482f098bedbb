/** A folder whose code is mutated, and the tests that its mutants have to survive. */
export interface Room {
  readonly name: string
  readonly mutate: string
  /** In this order: a mutant is dead at the first test that fails, so what is quick and finds much comes first. */
  readonly tests: readonly string[]
}

// Not all tests for each mutant: one that survives costs the time of all of them. So a score is a lower bound: a test
// that is not listed may kill what survives here.
export const ROOMS: readonly Room[] = [
  {
    name: 'machines',
    mutate: 'machines/**/*.ts',
    tests: [
      'test/unit/chart/*.test.ts',
      'test/loop/*.test.ts',
      'test/fault/{loop,loop-limits,tools}.test.ts',
      'test/model/{leaf-states,invariants,coverage}.test.ts',
    ],
  },
  {
    name: 'stream',
    mutate: 'src/stream/**/*.ts',
    tests: [
      'test/golden/frames.test.ts',
      'test/unit/*.test.ts',
      'test/fault/{protocol,transport}.test.ts',
      'test/property/chunking.test.ts',
    ],
  },
  {
    name: 'loop',
    mutate: 'src/loop/**/*.ts',
    tests: [
      'test/unit/loop/*.test.ts',
      'test/golden/frames.test.ts',
      'test/loop/*.test.ts',
      'test/fault/{loop,loop-limits,tools}.test.ts',
      'test/model/driver.test.ts',
    ],
  },
]

/** The room that this process is about; the first where nobody said. */
export function currentRoom(): Room {
  const { MUTATION_ROOM: name } = process.env
  const room = name === undefined ? ROOMS[0] : ROOMS.find((candidate) => candidate.name === name)
  if (room === undefined) throw new Error(`MUTATION_ROOM is none of the rooms: ${name}`)
  return room
}
