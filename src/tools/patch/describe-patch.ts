import { cutMiddle } from '../cut-middle.ts'
import { asciiOnly } from '../quoted.ts'
import { visibleText } from '../visible-text.ts'
import type { Patch, PatchSection, UpdateSection } from './patch.ts'
import { splitText } from './text-lines.ts'

const LENGTH_MAX = 8000
const SUMMARY_LENGTH_MAX = 5000

/** What a person is shown before a patch is applied: a line for each file, then the patch itself, cut visibly. */
export function describePatch(patch: Patch, text: string): string {
  // The list has room of its own: no length of a patch may hide which files it is about.
  const summary = cutMiddle(patch.sections.map(summaryOf).join('\n'), SUMMARY_LENGTH_MAX, 'plain')
  return `${summary}\n\n${cutMiddle(visibleText(text), LENGTH_MAX - summary.length, 'plain')}`
}

function summaryOf(section: PatchSection): string {
  const path = asciiOnly(section.path)
  switch (section.kind) {
    case 'add':
      return `add ${path} +${splitText(section.text).lines.length}`
    case 'delete':
      return `delete ${path}`
    case 'update':
      return section.moveTo === null
        ? `update ${path}${countsOf(section)}`
        : `move ${path} -> ${asciiOnly(section.moveTo)}${countsOf(section)}`
  }
}

function countsOf({ hunks }: UpdateSection): string {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const count = (wanted: string): number => lines.filter(({ kind }) => kind === wanted).length
  return hunks.length === 0 ? '' : ` +${count('add')} -${count('remove')}`
}
