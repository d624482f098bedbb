import { extname } from 'node:path'

import { parseAst } from 'vitest/node'

/** One place where a file names another module. */
export interface FoundImport {
  /** Undefined when the specifier is an expression that only running the code can tell. */
  readonly specifier: string | undefined
  /** True when nothing of it is left at run time. `import { type A }` leaves an import behind: false. */
  readonly typeOnly: boolean
}

/**
 * Every import of a source file: static, type-only, export-from, `import()`, `import('x').Type`, `require()`.
 * It reads the syntax tree, so a comment or a string cannot pass for an import. Throws on a syntax error.
 */
export function listImports(path: string, source: string): readonly FoundImport[] {
  const found: FoundImport[] = []
  visit(parse(path, source), (node) => {
    const target = targetOf(node)
    if (target !== undefined) found.push({ specifier: literalOf(target), typeOnly: isTypeOnly(node) })
  })
  return found
}

interface SyntaxNode {
  readonly type: string
  readonly [field: string]: unknown
}

function parse(path: string, source: string): unknown {
  try {
    return parseAst(source, { lang: languageOf(path) }, path)
  } catch (cause) {
    throw new Error(`${path} does not parse: ${String(cause)}`, { cause })
  }
}

function languageOf(path: string): 'dts' | 'ts' | 'tsx' | 'js' {
  if (/\.d\.[cm]?ts$/.test(path)) return 'dts'
  if (extname(path) === '.tsx') return 'tsx'
  return /^\.[cm]?ts$/.test(extname(path)) ? 'ts' : 'js'
}

function visit(value: unknown, see: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) for (const entry of value) visit(entry, see)
  if (!isNode(value)) return
  see(value)
  for (const field of Object.values(value)) if (typeof field === 'object') visit(field, see)
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** The node that holds the specifier, if this node is an import. */
function targetOf(node: SyntaxNode): SyntaxNode | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return isNode(node['source']) ? node['source'] : undefined
    case 'TSExternalModuleReference':
      return isNode(node['expression']) ? node['expression'] : undefined
    case 'CallExpression':
      return isRequire(node) ? firstArgumentOf(node) : undefined
    default:
      return undefined
  }
}

function isRequire(call: SyntaxNode): boolean {
  return (
    isNode(call['callee']) && call['callee'].type === 'Identifier' && call['callee']['name'] === 'require'
  )
}

function firstArgumentOf(call: SyntaxNode): SyntaxNode | undefined {
  const first: unknown = Array.isArray(call['arguments']) ? call['arguments'][0] : undefined
  return isNode(first) ? first : undefined
}

function literalOf(node: SyntaxNode): string | undefined {
  if (typeof node['value'] === 'string') return node['value']
  const quasis = node['quasis']
  if (node.type !== 'TemplateLiteral' || !Array.isArray(quasis) || quasis.length !== 1) return undefined
  const only: unknown = quasis[0]
  const value: unknown = isNode(only) ? only['value'] : undefined
  return typeof value === 'object' && value !== null && 'cooked' in value && typeof value.cooked === 'string'
    ? value.cooked
    : undefined
}

function isTypeOnly(node: SyntaxNode): boolean {
  return node.type === 'TSImportType' || node['importKind'] === 'type' || node['exportKind'] === 'type'
}
