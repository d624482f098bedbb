import { readFileSync } from 'node:fs'

import { Ajv2020 } from 'ajv/dist/2020.js'

import { isJsonObject } from '../../../src/protocol/json.ts'

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })

const validators = new Map(
  ['rip.context_bundle.v1', 'loopchart.context_bundle.v1'].map((name) => {
    const file = new URL(`../../../schemas/context-bundle/${name}.json`, import.meta.url)
    return [name, ajv.compile(JSON.parse(readFileSync(file, 'utf8')))] as const
  }),
)

/** Whether the published schema that a value names takes it. */
export function isBySchema(value: unknown): boolean {
  const name = isJsonObject(value) ? value['schema'] : null
  const validate = typeof name === 'string' ? validators.get(name) : undefined
  return validate?.(value) === true
}
