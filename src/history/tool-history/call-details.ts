import { isJsonObject, parseJson, type JsonObject } from '../../protocol/json.ts'
import { cutText } from './cut-text.ts'
import type { PriorCall } from './prior-call.ts'
import type { ToolKind } from './tool-kind.ts'

const COMMAND_CHARACTERS_MAX = 50
const DETAIL_CHARACTERS_MAX = 100

const PATH_KEYS = ['path', 'file_path', 'filePath', 'filename', 'uri', 'id']
const QUERY_KEYS = ['pattern', 'query', 'regex']

/** What a summary mentions of a call: its files, its command, its query or the name of its tool, each on one line. */
export function callDetails(call: PriorCall, kind: ToolKind): readonly string[] {
  const parsed = parseJson(call.argumentsText)
  const args = isJsonObject(parsed) ? parsed : {}
  switch (kind) {
    case 'read':
      return shown(firstText(args, PATH_KEYS), DETAIL_CHARACTERS_MAX)
    case 'write':
      return shown([...firstText(args, PATH_KEYS), ...patchedFiles(args)], DETAIL_CHARACTERS_MAX)
    case 'terminal':
      return shown(commandOf(args), COMMAND_CHARACTERS_MAX)
    case 'search':
      return shown(firstText(args, QUERY_KEYS), DETAIL_CHARACTERS_MAX)
    case 'other':
      return shown([call.name], DETAIL_CHARACTERS_MAX)
  }
}

function shown(texts: readonly string[], charactersMax: number): readonly string[] {
  return texts
    .map((text) => cutText(text.replaceAll(/\s+/gu, ' ').trim(), charactersMax))
    .filter((text) => text !== '')
}

function firstText(args: JsonObject, keys: readonly string[]): readonly string[] {
  const key = keys.find((name) => typeof args[name] === 'string')
  const value = key === undefined ? undefined : args[key]
  return typeof value === 'string' ? [value] : []
}

// The form of apply_patch: a file is named by each section, and a second time where it is moved.
function patchedFiles({ patch, input }: JsonObject): readonly string[] {
  const text = typeof patch === 'string' ? patch : input
  if (typeof text !== 'string') return []
  const sections = text.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gmu)
  return Array.from(sections, ([, path = '']) => path)
}

function commandOf({ command, argv }: JsonObject): readonly string[] {
  const words = Array.isArray(command) ? command : argv
  if (typeof command === 'string') return [command]
  return Array.isArray(words) ? [words.filter((word) => typeof word === 'string').join(' ')] : []
}
