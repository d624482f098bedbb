import { isBuiltin } from 'node:module'
import { posix } from 'node:path'

import { IMPORT_TABLE, OPEN_ROOMS, PRIVATE_ROOMS } from './import-table.ts'
import type { ImportRule } from './import-table.ts'
import { listImports } from './list-imports.ts'
import type { FoundImport } from './list-imports.ts'

/**
 * One line for every import that the table forbids, every cycle between files and every folder that is not a
 * room. Keys of `sources` are paths from the root of the repository, with `/`.
 */
export function checkImports(
  sources: ReadonlyMap<string, string>,
  dependencies: readonly string[],
): readonly string[] {
  const problems: string[] = []
  const edges = new Map<string, string[]>()
  for (const [path, source] of sources) {
    const room = roomOf(path)
    const rule = room === undefined ? undefined : IMPORT_TABLE[room]
    if (room === undefined || rule === undefined) {
      problems.push(`${path}: is in no room of the import table`)
      continue
    }
    if (!isCode(path)) continue
    const targets: string[] = []
    edges.set(path, targets)
    for (const found of listImports(path, source)) {
      const reason = isRelative(found)
        ? checkRelative(path, room, rule, found, sources, targets)
        : checkPackage(rule, found, dependencies)
      if (reason !== undefined)
        problems.push(`${path}: import '${found.specifier ?? '(computed)'}': ${reason}`)
    }
  }
  return [...problems, ...findCycles(edges)]
}

function roomOf(path: string): string | undefined {
  const [top, second, ...rest] = path.split('/')
  if (top === 'machines') return 'machines'
  if (top !== 'src' || second === undefined) return undefined
  if (FOLDER_ROOMS.has(`${second}/${rest[0] ?? ''}`) && rest.length > 1) return `${second}/${rest[0] ?? ''}`
  if (rest.length > 0) return FILE_ROOMS.has(second) ? undefined : second
  const name = second.replace(/\.ts$/, '')
  return FILE_ROOMS.has(name) ? name : undefined
}

// Rooms that are one file each, such as src/errors.ts.
const FILE_ROOMS: ReadonlySet<string> = new Set([
  'errors',
  'clock',
  'state-folder',
  'agent',
  'agent-tool',
  'agent-compaction',
  'replay-run',
  'run',
  'index',
  'machine',
])

// Rooms within a room.
const FOLDER_ROOMS: ReadonlySet<string> = new Set(['inspect/page'])

function isCode(path: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(path)
}

function isRelative(found: FoundImport): boolean {
  return found.specifier !== undefined && /^(\.{1,2}(\/|$)|\/|file:)/.test(found.specifier)
}

function checkRelative(
  path: string,
  room: string,
  rule: ImportRule,
  found: FoundImport,
  sources: ReadonlyMap<string, string>,
  targets: string[],
): string | undefined {
  const target = posix.join(posix.dirname(path), found.specifier ?? '')
  const targetRoom = roomOf(target)
  if (targetRoom === undefined) return 'leaves the rooms of src/ and machines/'
  if (!sources.has(target)) return 'no such file'
  targets.push(target)
  if (targetRoom === room) return undefined
  if (PRIVATE_ROOMS.includes(targetRoom)) return `nothing imports ${targetRoom}`
  if (rule.rooms === 'any' || rule.rooms.includes(targetRoom)) return undefined
  if (rule.typesOf !== undefined) {
    if (!rule.typesOf.includes(targetRoom)) return `${room} may not import ${targetRoom}`
    return found.typeOnly ? undefined : `${room} may import only types of ${targetRoom}`
  }
  if (rule.closed !== true && OPEN_ROOMS.includes(targetRoom)) return undefined
  return `${room} may not import ${targetRoom}`
}

function checkPackage(
  rule: ImportRule,
  found: FoundImport,
  dependencies: readonly string[],
): string | undefined {
  const { specifier } = found
  if (specifier === undefined) return rule.computed === true ? undefined : 'cannot be checked'
  if (specifier.startsWith('node:')) {
    return rule.builtins === false ? 'must also run without Node' : undefined
  }
  if (isBuiltin(specifier)) return 'write a builtin with node:'
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  if (rule.bundled !== true && !dependencies.includes(name)) return `${name} is not in dependencies`
  if (rule.packages !== undefined && !rule.packages.includes(name)) return `${name} is not allowed here`
  return undefined
}

/** Depth-first, reporting each edge that leads back into the path being walked. */
function findCycles(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const cycles: string[] = []
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start !== -1) cycles.push(`${path}: cycle: ${[...trail.slice(start), path].join(' -> ')}`)
    if (start !== -1 || done.has(path)) return
    for (const target of edges.get(path) ?? []) walk(target, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) walk(path, [])
  return cycles
}
