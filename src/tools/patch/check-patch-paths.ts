import { LoopchartError } from '../../errors.ts'
import { quoted } from '../quoted.ts'
import { pathsOf, type PatchSection } from './patch.ts'

/**
 * Throws `patch_invalid` when two sections are about the same path, or one path lies inside another: what such
 * a patch means would depend on the order in which its files are written.
 */
export function checkPatchPaths(sections: readonly PatchSection[]): void {
  const lines = new Map<string, number>()
  for (const section of sections) {
    for (const path of pathsOf(section)) {
      const before = lines.get(path)
      if (before !== undefined) throw repeated(section, path, before)
      lines.set(path, section.line)
    }
  }
  for (const [path, line] of lines) {
    for (const folder of foldersOf(path)) {
      if (!lines.has(folder)) continue
      const message = `patch line ${line}: ${quoted(path)} lies inside ${quoted(folder)}, which is a file of this patch`
      throw new LoopchartError('patch_invalid', message)
    }
  }
}

function repeated({ kind, path, line }: PatchSection, again: string, before: number): LoopchartError {
  const isToItself = kind === 'update' && before === line && path === again
  const reason = isToItself
    ? `${quoted(again)} is moved to itself, leave out *** Move to`
    : `${quoted(again)} is already in the section at patch line ${before}, a patch may name a path once`
  return new LoopchartError('patch_invalid', `patch line ${line}: ${reason}`)
}

function foldersOf(path: string): readonly string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}
