/**
 * The length of a text in Unicode code points, which is what minLength and maxLength of JSON Schema count. A
 * surrogate without its partner counts as one.
 */
export function codePointLength(text: string): number {
  let length = text.length
  for (let index = 0; index < text.length - 1; index += 1) {
    if (isHighSurrogate(text.charCodeAt(index)) && isLowSurrogate(text.charCodeAt(index + 1))) length -= 1
  }
  return length
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc_00 && unit <= 0xdf_ff
}
