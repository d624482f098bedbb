const pathLengthMax = 150
const lengthMax = 300

/**
 * `response.output[0].type must be string`: the field that keys lead to, and what is wrong with it. At most
 * 300 characters, whatever the keys are.
 */
export function faultText(keys: readonly string[], complaint: string): string {
  const path = keys.map(readableKey).join('').replace(/^\./, '')
  return cut(`${path === '' ? 'it' : cut(path, pathLengthMax)} ${complaint}`, lengthMax)
}

// Keys may come from a provider: as printable ASCII, nothing of them can steer the terminal that shows them.
function readableKey(key: string): string {
  if (/^\d+$/.test(key)) return `[${key}]`
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return `.${key}`
  const escaped = JSON.stringify(key.slice(0, pathLengthMax)).replaceAll(
    /[^\u0020-\u007e]/g,
    (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `[${escaped}]`
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 3)}...` : text
}
