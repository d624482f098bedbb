import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'

import type { JsonObject } from '../../src/protocol/json.ts'
import { GENERATED_NOTICE } from './generated-notice.ts'
import { messageOf, Refusal } from './refusal.ts'

/** What a module of precompiled validators exports. */
export interface ValidatorModule {
  /** Schemas by name, referring to each other by `#/$defs/<name>`. */
  readonly schemas: ReadonlyMap<string, JsonObject>
  /** Exported name to the name of its schema. */
  readonly single: ReadonlyMap<string, string>
  /** Exported name of a Map of validators to the schema name of each key. */
  readonly maps: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** From the module to src/protocol/, with a slash at the end. */
  readonly protocolPath: string
}

/** The text of a TypeScript module of validators that needs nothing of ajv when it runs. */
export function validatorModule(module: ValidatorModule): string {
  const names = new Set([
    ...module.single.values(),
    ...[...module.maps.values()].flatMap((map) => Array.from(map.values())),
  ])
  const constants = new Map([...names].map((name, index) => [name, `check${index}`]))
  const code = withoutRequire(standaloneCode(module.schemas, constants), module.protocolPath)
  const exports = [
    ...[...module.single].map(
      ([name, schema]) => `export const ${name}: CompiledValidator = ${constants.get(schema)}`,
    ),
    ...[...module.maps].map(([name, map]) => {
      const entries = [...map].map(
        ([key, schema]) => `  [${JSON.stringify(key)}, ${constants.get(schema)}],\n`,
      )
      return `export const ${name}: ReadonlyMap<string, CompiledValidator> = new Map([\n${entries.join('')}])`
    }),
  ]
  const typeImport = `import type { CompiledValidator } from '${module.protocolPath}compiled-validator.ts'`
  return `${GENERATED_NOTICE}\n// @ts-nocheck\n${typeImport}\n${code}\n\n${exports.join('\n')}\n`
}

function standaloneCode(
  schemas: ReadonlyMap<string, JsonObject>,
  constants: ReadonlyMap<string, string>,
): string {
  // allErrors stays off: the first error ends the work, so hostile input cannot make it grow. Lists of types
  // are how nullable fields are written. References are not inlined because the code is a fifth smaller that
  // way.
  const ajv = new Ajv({
    strict: true,
    allowUnionTypes: true,
    discriminator: true,
    allErrors: false,
    inlineRefs: false,
    code: { source: true, esm: true, lines: true },
  })
  try {
    ajv.addSchema({ $id: 'module', $defs: Object.fromEntries(schemas) })
    const refs = [...constants].map(([schema, constant]) => [constant, `module#/$defs/${schema}`])
    return standalone.default(ajv, Object.fromEntries(refs))
  } catch (error) {
    throw new Refusal(
      `cannot compile validators (${messageOf(error)}); adapt scripts/schemas to the document`,
      {
        cause: error,
      },
    )
  }
}

// Even with esm set, ajv fetches its helper for string lengths by require.
function withoutRequire(code: string, protocolPath: string): string {
  const helpers: string[] = []
  const body = code
    .replace('"use strict";', '')
    .replaceAll(/export const (\w+) = (\w+);/g, 'const $1 = $2;')
    .replaceAll(/const (\w+) = require\("ajv\/dist\/runtime\/ucs2length"\)\.default;/g, (_, name: string) => {
      helpers.push(`import { codePointLength as ${name} } from '${protocolPath}code-point-length.ts'\n`)
      return ''
    })
  const left = /\brequire\(.*|\bimport\b.*|\bexport\b.*/.exec(body)
  if (left !== null)
    throw new Refusal(`generated code still has ${left[0]}; teach validator-module.ts to replace it`)
  return helpers.join('') + body.trim()
}
