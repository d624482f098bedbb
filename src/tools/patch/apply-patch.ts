import { hash } from 'node:crypto'

import { LoopchartError } from '../../errors.ts'
import type { FileContent, Workspace } from '../workspace/workspace.ts'
import { carryOut } from './carry-out.ts'
import { pathsOf, type Patch } from './patch.ts'
import { damagedRecord, type PatchRecords, type RecordedFile } from './patch-records.ts'
import { planChanges, type FileChange, type FileContents, type NewContent } from './plan-changes.ts'
import { readFiles } from './read-files.ts'
import { resolvePatch, type ResolvedPatch } from './resolve-patch.ts'

/** Where a patch is applied. */
export interface PatchHost {
  readonly workspace: Workspace
  readonly records: PatchRecords
}

export interface ApplyPatchOptions {
  /** The same for every attempt at the same call. */
  readonly key: string
  /** Looked at until the first file is changed; after that the patch is finished. */
  readonly signal: AbortSignal
}

/**
 * Applies a patch as a whole or not at all. Everything is read and computed first. Then the hashes of all files are
 * recorded, and only then are files changed. When the process dies in between, the same call with the same key does
 * what is missing, provided that each file is as it was before the patch or as after it. Answers with the hashes.
 */
export async function applyPatch(
  { workspace, records }: PatchHost,
  patch: Patch,
  { key, signal }: ApplyPatchOptions,
): Promise<readonly RecordedFile[]> {
  const resolved = resolvePatch(workspace, patch)
  const patchHash = hash('sha256', JSON.stringify([workspace.root, patch.sections]))
  const record = records.find(key, patchHash)
  const contents = await readFiles(workspace, resolved.paths.values())
  const changes = record === null ? planChanges(resolved, contents) : planRest(resolved, record, contents)
  const files = record ?? changes.map(recorded)
  signal.throwIfAborted()
  // One file is changed at once or not at all, so only several can be left half changed by a power cut.
  if (record === null) records.begin(key, { patchHash, files }, changes.length > 1)
  try {
    await carryOut(workspace, changes)
  } catch (error) {
    throw await afterFailure({ workspace, records }, key, resolved, files, error)
  }
  records.finish(key)
  return files
}

function recorded({ path, before, after }: FileChange): RecordedFile {
  return { path: path.path, before: hashOf(before), after: hashOf(after) }
}

function hashOf(content: NewContent | null): string | null {
  return content === null ? null : hash('sha256', content.bytes)
}

/** What is left to do of a patch that was begun before. */
function planRest(
  resolved: ResolvedPatch,
  record: readonly RecordedFile[],
  contents: FileContents,
): readonly FileChange[] {
  const isWhole =
    record.length === resolved.paths.size && record.every(({ path }) => resolved.paths.has(path))
  if (!isWhole) throw damagedRecord()
  const states = new Map(record.map((file) => [file.path, stateOf(file, contents.get(file.path) ?? null)]))
  for (const section of resolved.sections) {
    const [path, target] = pathsOf(section)
    // The source goes away last, so a target that is missing then has been removed by somebody.
    if (target !== undefined && states.get(path ?? '') === AFTER && states.get(target) === BEFORE) {
      states.set(target, CHANGED)
    }
  }
  if ([...states.values()].includes(CHANGED)) {
    const message = `an earlier attempt at this patch was cut off, and files have changed since; nothing more was done: ${listed(states)}`
    throw new LoopchartError('patch_conflict', message)
  }
  const sections = resolved.sections.filter((section) =>
    pathsOf(section).some((path) => states.get(path) === BEFORE),
  )
  return planChanges({ ...resolved, sections }, contentsBefore(record, states, contents))
}

// The target of a move may have been written already.
function contentsBefore(
  record: readonly RecordedFile[],
  states: ReadonlyMap<string, FileState>,
  contents: FileContents,
): FileContents {
  const before = new Map(contents)
  for (const file of record) {
    if (file.before === null && states.get(file.path) === AFTER) before.set(file.path, null)
  }
  return before
}

const BEFORE = 'as before'
const AFTER = 'as after'
const CHANGED = 'changed by somebody'
const UNKNOWN = 'cannot be read'

type FileState = typeof BEFORE | typeof AFTER | typeof CHANGED | typeof UNKNOWN

function stateOf({ before, after }: RecordedFile, content: FileContent | null): FileState {
  const now = hashOf(content)
  if (now === after) return AFTER
  return now === before ? BEFORE : CHANGED
}

function listed(states: ReadonlyMap<string, FileState>): string {
  return [...states].map(([path, state]) => `${path} is ${state}`).join('; ')
}

/** The error that says what the files are now. */
async function afterFailure(
  { workspace, records }: PatchHost,
  key: string,
  { paths }: ResolvedPatch,
  files: readonly RecordedFile[],
  error: unknown,
): Promise<unknown> {
  const states = new Map<string, FileState>()
  let isUnchanged = true
  for (const file of files) {
    const path = paths.get(file.path)
    const content = await readFiles(workspace, path === undefined ? [] : [path]).catch(() => null)
    const now = content?.get(file.path) ?? null
    states.set(file.path, content === null ? UNKNOWN : stateOf(file, now))
    isUnchanged &&= content !== null && hashOf(now) === file.before
  }
  if (isUnchanged) records.drop(key)
  if (!(error instanceof LoopchartError)) return error
  const now = isUnchanged
    ? 'nothing is changed, what had been written was put back'
    : `and not everything could be put back: ${listed(states)}`
  return new LoopchartError(error.code, `${error.message}; ${now}`, { cause: error })
}
