import type { CompiledValidator, CompiledValidatorError } from './compiled-validator.ts'
import { faultText } from './fault-text.ts'

/** What a validator found wrong first. */
export interface Fault {
  /** JSON pointer to the wrong value; that of the object around it when a field is missing. */
  readonly pointer: string
  /** Names the field and what it must be, never the value. */
  readonly text: string
}

/** Describes why a validator answered false. Call it before the validator is used again. */
export function describeFault(validator: CompiledValidator): Fault {
  // Further errors only repeat this one from the point of view of the schemas around it.
  const [error] = validator.errors ?? []
  if (error === undefined) return { pointer: '', text: 'it is not valid' }
  const keys = error.instancePath.split('/').slice(1).map(unescapePointer)
  const { missingProperty } = error.params
  if (typeof missingProperty === 'string') keys.push(missingProperty)
  return { pointer: error.instancePath, text: faultText(keys, complaint(error)) }
}

function unescapePointer(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

function complaint({ keyword, params, message }: CompiledValidatorError): string {
  if (keyword === 'required') return 'is missing'
  if (keyword === 'type') return `must be ${listed(params['type'])}`
  if (keyword === 'enum') return `must be ${listed(params['allowedValues'])}`
  return message ?? 'is not valid'
}

/** `a, b or c`. */
export function listed(values: unknown): string {
  const names = (Array.isArray(values) ? values : [values]).map(String)
  const last = names.pop() ?? ''
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`
}
