import type { ValidationProfile } from './validation-profile.ts'

/** The strict profile. Loaded when asked for: its validators are large, and most readers never need them. */
export async function loadStrict(): Promise<ValidationProfile> {
  const { strict } = await import('./strict.ts')
  return strict
}
