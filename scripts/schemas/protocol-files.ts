import { checkableSchemas, withoutAnnotations } from './checkable-schema.ts'
import { GENERATED_NOTICE } from './generated-notice.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { Refusal } from './refusal.ts'
import { ANY_RESPONSE, tolerantProfile } from './tolerant-profile.ts'
import { typeModule } from './type-module.ts'
import { validatorModule } from './validator-module.ts'

const protocolPath = '../'

/**
 * What src/protocol/generated/ holds for the document of the protocol that loopchart speaks, by file name.
 */
export async function protocolFiles(document: OpenApiDocument): Promise<ReadonlyMap<string, string>> {
  for (const name of [
    'ResponseResource',
    'CompactResource',
    'CreateResponseBody',
    'CompactResponseMethodPublicBody',
  ]) {
    if (!document.schemas.has(name)) {
      throw new Refusal(
        `the newest document, ${document.version}, has no schema ${name}; adapt protocol-files.ts`,
      )
    }
  }
  return new Map([
    ['openresponses.ts', await typesText(document)],
    ['event-types.ts', eventTypesText(document)],
    ['strict-events.ts', strictEventsText(document)],
    ['strict-request.ts', strictRequestText(document)],
    ['tolerant-events.ts', tolerantEventsText(document)],
  ])
}

async function typesText(document: OpenApiDocument): Promise<string> {
  return typeModule({
    union: 'StreamingEvent',
    branches: document.events.map((event) => ({ $ref: `#/$defs/${event.name}` })),
    schemas: new Map([...document.schemas].map(([name, schema]) => [name, withoutAnnotations(schema)])),
    protocolPath,
  })
}

function eventTypesText({ version, events }: OpenApiDocument): string {
  const lines = events.map((event) => `  ${JSON.stringify(event.type)},\n`)
  const comment = `/** The event types of Open Responses ${version}, in document order. */`
  return `${GENERATED_NOTICE}\n${comment}\nexport const EVENT_TYPES = [\n${lines.join('')}] as const\n`
}

function strictEventsText(document: OpenApiDocument): string {
  return validatorModule({
    schemas: checkableSchemas(document.schemas),
    single: new Map([
      ['strictResponseValidator', 'ResponseResource'],
      ['strictCompactionValidator', 'CompactResource'],
    ]),
    maps: new Map([
      ['strictEventValidators', new Map(document.events.map((event) => [event.type, event.name]))],
    ]),
    protocolPath,
  })
}

function strictRequestText(document: OpenApiDocument): string {
  return validatorModule({
    schemas: checkableSchemas(document.schemas),
    single: new Map([
      ['strictRequestValidator', 'CreateResponseBody'],
      ['strictCompactRequestValidator', 'CompactResponseMethodPublicBody'],
    ]),
    maps: new Map(),
    protocolPath,
  })
}

function tolerantEventsText(document: OpenApiDocument): string {
  const { schemas, events } = tolerantProfile(document)
  return validatorModule({
    schemas,
    single: new Map([['tolerantResponseValidator', ANY_RESPONSE]]),
    maps: new Map([['tolerantEventValidators', events]]),
    protocolPath,
  })
}
