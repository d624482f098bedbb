/**
 * A text of a model in double quotes, as printable ASCII and cut: nothing of it can steer the terminal or the
 * log that shows it, and nobody gets a huge value back.
 */
export function quoted(text: string, lengthMax = 64): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}...` : text
  return asciiOnly(JSON.stringify(cut))
}

/** The same text with every character outside printable ASCII written as its \u escape. */
export function asciiOnly(text: string): string {
  return text.replaceAll(
    /[^\u0020-\u007e]/g,
    (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
