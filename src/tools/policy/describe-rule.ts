import { asciiOnly } from '../quoted.ts'
import type { PolicyVerdict } from './policy.ts'

/** What a rule is about, for a model that was refused by it. */
export function describeRule({ rule }: PolicyVerdict): string {
  if (rule === null) return 'it cannot be told what the call would use; name paths inside of the workspace'
  const { tool, path, access, argv } = rule
  const who = tool === '*' ? 'any tool' : tool
  if (argv !== undefined) return `${who} on ${argv.map((part) => asciiOnly(JSON.stringify(part))).join(' ')}`
  if (path === undefined) return who
  return `${who} on ${asciiOnly(path)}${access === undefined ? '' : `, to ${access}`}`
}
