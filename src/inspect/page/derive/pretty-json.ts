import { parseJson } from '../../../protocol/json.ts'

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * JSON text with a line for each value; null when it is not JSON. Only white space changes: numbers and keys stand as
 * they came, also those that parsing would round or drop.
 */
export function prettyJson(text: string): string | null {
  if (parseJson(text) === undefined) return null
  const tokens = text.match(TOKEN) ?? []
  const out: string[] = []
  let depth = 0
  tokens.forEach((token, index) => {
    const next = tokens[index + 1]
    if (token === '{' || token === '[') {
      const isEmpty = next === '}' || next === ']'
      depth += 1
      out.push(token, isEmpty ? '' : lineAt(depth))
    } else if (token === '}' || token === ']') {
      const before = tokens[index - 1]
      depth -= 1
      out.push(before === '{' || before === '[' ? '' : lineAt(depth), token)
    } else {
      out.push(token, token === ',' ? lineAt(depth) : token === ':' ? ' ' : '')
    }
  })
  return out.join('')
}

// Deeper than anybody reads, indentation would be most of the text.
const DEPTH_MAX = 40

function lineAt(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, DEPTH_MAX))}`
}
