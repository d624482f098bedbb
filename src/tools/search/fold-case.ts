import { codePointSet, type CodePointRange, type CodePointSet } from './code-point-set.ts'

// The last script with two cases is Adlam, which ends here.
const CASED_MAX = 0x1_e9_5f

let families: ReadonlyMap<number, readonly number[]> | null = null

/**
 * The set with every other case of its letters: of `k`, also `K` and the Kelvin sign. The two search engines have
 * tables of their own for this, of different Unicode versions; ours is the one that both are given.
 */
export function foldCase(set: CodePointSet): CodePointSet {
  const added: CodePointRange[] = []
  families ??= caseFamilies()
  for (const [first, last] of set) {
    const isSmall = last - first < families.size
    const letters = isSmall ? numbersFrom(first, last) : [...families.keys()]
    for (const letter of letters) {
      if (letter < first || letter > last) continue
      for (const other of families.get(letter) ?? []) added.push([other, other])
    }
  }
  return codePointSet([...set, ...added])
}

function numbersFrom(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** Every letter with all the letters that it is the same as. */
function caseFamilies(): ReadonlyMap<number, readonly number[]> {
  const byKey = new Map<number, number[]>()
  for (let letter = 0; letter <= CASED_MAX; letter += 1) {
    const key = foldedOf(letter)
    const family = byKey.get(key)
    if (family === undefined) byKey.set(key, [letter])
    else family.push(letter)
  }
  const families = [...byKey.values()].filter(({ length }) => length > 1)
  return new Map(families.flatMap((family) => family.map((letter) => [letter, family] as const)))
}

/** A letter whose other case is longer than itself, such as ß, has only itself. */
function foldedOf(letter: number): number {
  const upper = onlyCodePoint(String.fromCodePoint(letter).toUpperCase()) ?? letter
  return onlyCodePoint(String.fromCodePoint(upper).toLowerCase()) ?? letter
}

function onlyCodePoint(text: string): number | null {
  const codePoint = text.codePointAt(0) ?? 0
  return text.length === (codePoint > 0xff_ff ? 2 : 1) ? codePoint : null
}
