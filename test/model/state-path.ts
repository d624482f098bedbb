/** Where an actor is, as the dotted path of its one active leaf. */
export function statePath({ value }: { readonly value: unknown }): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const [entry] = Object.entries(value)
  if (entry === undefined) return ''
  return `${entry[0]}.${statePath({ value: entry[1] })}`
}
