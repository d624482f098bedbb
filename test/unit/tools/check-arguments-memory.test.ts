import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { expect, test } from 'vitest'

import type { JsonObject } from '../../../src/protocol/json.ts'
import { jsonSchemaChecker } from '../../../src/tools/check-arguments.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Compiles schemas that nobody keeps, and gives how many of them are still there. */
async function countLeft(count: number, make: (at: number) => JsonObject): Promise<number> {
  const references: WeakRef<JsonObject>[] = []
  for (let at = 0; at < count; at += 1) {
    const schema = make(at)
    void jsonSchemaChecker(schema)({ n: 1 })
    references.push(new WeakRef(schema))
  }
  // What a reference was made to lives until the end of the turn.
  await sleep(10)
  collect()
  await sleep(10)
  collect()
  return references.filter((reference) => reference.deref() !== undefined).length
}

function schemaOf(name: string): JsonObject {
  return { type: 'object', properties: { n: { type: 'number' } }, title: name }
}

test('the schemas of tools that are gone do not pile up, however many different ones there were', async () => {
  expect(await countLeft(1_000, (at) => schemaOf(`tool ${at}`))).toBeLessThan(300)
})

test('a schema that is made again and again is not kept each time', async () => {
  // The first, and what a register may still hold of the last.
  expect(await countLeft(200, () => schemaOf('the same'))).toBeLessThanOrEqual(2)
})

test('two tools with the same schema are each told of their own faults', async () => {
  const [one, other] = [jsonSchemaChecker(schemaOf('shared')), jsonSchemaChecker(schemaOf('shared'))]
  expect(await one({ n: 'text' })).toEqual({ ok: false, faults: ['n must be number'] })
  expect(await other({ n: 1 })).toEqual({ ok: true, value: { n: 1 } })
  expect(await one({ n: 'text' })).toEqual({ ok: false, faults: ['n must be number'] })
})
