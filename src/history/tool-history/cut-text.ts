/** The begin of a text: so many code points at most, and `...` where something was cut off. */
export function cutText(text: string, charactersMax: number): string {
  const end = endOfCharacters(text, charactersMax)
  return end === text.length ? text : `${text.slice(0, end)}...`
}

/** Where the first so many code points of a text end. */
function endOfCharacters(text: string, charactersMax: number): number {
  if (text.length <= charactersMax) return text.length
  let end = 0
  for (let count = 0; count < charactersMax && end < text.length; count += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xff_ff ? 2 : 1
  }
  return end
}
