const BACKSLASH = 92

/**
 * Where the JSON string that opens with the quote at `open` closes; the length of the text when it does not. Linear:
 * each run of backslashes is counted once.
 */
export function endOfString(json: string, open: number): number {
  for (let end = json.indexOf('"', open + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return json.length
}
