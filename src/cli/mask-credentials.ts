/** Masks what looks like a credential though nobody named it: a person, a model or a tool may have brought it. */
export function maskCredentials(text: string): string {
  return text.replaceAll(/\b(Bearer\s+|Basic\s+|sk-)[A-Za-z0-9._~+/-]{12,}=*/gu, '$1[redacted]')
}
