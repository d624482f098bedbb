// The one tool of every loop. All clients call the same function, so that what it was told can be counted.

export const NOTE_DESCRIPTION = 'Note a text and return how long it is.'

/** As JSON Schema, for clients that take one. */
export const NOTE_PARAMETERS = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
} as const

let calls = 0
let characters = 0

/** What the tool does. The server looks for the returned text in the request that follows. */
export function note(text: string): string {
  calls += 1
  characters += text.length
  return notedText(text)
}

export function notedText(text: string): string {
  return `noted ${text.length} characters`
}

/** What was noted since this was last asked. */
export function takeNoted(): { readonly calls: number; readonly characters: number } {
  const taken = { calls, characters }
  calls = 0
  characters = 0
  return taken
}
