/**
 * What a precompiled validator says about the first thing that is wrong; only the fields that are used here.
 */
export interface CompiledValidatorError {
  /** JSON pointer to the wrong value. */
  readonly instancePath: string
  readonly schemaPath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}

/** A precompiled check. After it has answered false, `errors` says why; the next call overwrites that. */
export type CompiledValidator = ((data: unknown) => boolean) & {
  errors?: readonly CompiledValidatorError[] | null
}
