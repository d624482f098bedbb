/** One start tag of an XML document. */
export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

const NAME = String.raw`[A-Za-z_][\w.:-]*`
const TEXT = String.raw`(?:[^<&"]|&(?:amp|lt|gt|quot);)*`
const TOKEN = new RegExp(
  String.raw`<\?xml [^?]*\?>|</(${NAME})>|<(${NAME})((?: ${NAME}="${TEXT}")*)(/?)>|((?:[^<&]|&(?:amp|lt|gt|quot);)+)`,
  'uy',
)

/** The elements of a document in document order; throws where it is not well-formed. */
export function xmlElements(document: string): readonly XmlElement[] {
  const elements: XmlElement[] = []
  const open: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < document.length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(document)
    if (match === null) throw new Error(`not well-formed at ${document.slice(at, at + 40)}`)
    const [, closed, opened, attributes = '', isEmpty, text] = match
    if (closed !== undefined && open.pop() !== closed) throw new Error(`</${closed}> closes nothing`)
    if (open.length === 0 && text !== undefined && text.trim() !== '') throw new Error('text outside')
    if (opened === undefined) continue
    elements.push({ name: opened, attributes: attributesIn(attributes) })
    if (isEmpty === '') open.push(opened)
  }
  if (open.length > 0) throw new Error(`${open.join(', ')} not closed`)
  return elements
}

function attributesIn(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/ ([^=]+)="([^"]*)"/gu)].map(([, name = '', value = '']) => [name, value])
  const names = pairs.map(([name]) => name)
  if (new Set(names).size < names.length) throw new Error(`an attribute is given twice in${text}`)
  return Object.fromEntries(pairs)
}
