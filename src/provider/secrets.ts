/** Takes secrets out of text that others wrote: a provider may repeat the key that it refuses. */
export interface Redactor {
  (text: string): string
  /** The longest text that is taken out; 0: none is. */
  readonly lengthMax: number
  /** A text that broke off, without the secret that had begun at its end. */
  withoutBegun(text: string): string
}

// What is shorter is a word, such as the `ollama` that stands in for a key, and no secret.
const LENGTH_MIN = 8

export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = secrets
    .filter(({ length }) => length >= LENGTH_MIN)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    // A secret that begins another must not leave the rest of it.
    .sort((a, b) => b.length - a.length)
  const redact = (text: string): string => forms.reduce((rest, form) => rest.replaceAll(form, '***'), text)
  const withoutBegun = (text: string): string => {
    const begun = forms.map((form) => lengthOfStart(form, text))
    return text.slice(0, text.length - Math.max(0, ...begun))
  }
  return Object.assign(redact, { lengthMax: forms[0]?.length ?? 0, withoutBegun })
}

/** How much of a form stands at the end of a text. */
function lengthOfStart(form: string, text: string): number {
  for (let length = form.length - 1; length > 0; length -= 1) {
    if (text.endsWith(form.slice(0, length))) return length
  }
  return 0
}
