import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, onTestFinished, test } from 'vitest'

import { schemasCommand } from '../../scripts/schemas/command.ts'
import { derivedFiles, derivedFolders } from '../../scripts/schemas/derived-files.ts'
import { compareTree } from '../../scripts/schemas/derived-tree.ts'
import { parseOpenApiDocument } from '../../scripts/schemas/openapi-document.ts'
import { readSchemaSources } from '../../scripts/schemas/schema-sources.ts'
import { validatorModule } from '../../scripts/schemas/validator-module.ts'
import { frameValidator } from '../../src/frames/generated/validate-frame.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { mutate, seeded, withValue } from '../mutate.ts'
import { readDocument, sampleValue } from '../sample-event.ts'

const repository = join(import.meta.dirname, '../..')
const newest = 'schemas/openresponses/2026-04-24'

interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

async function runSchemas(root: string, ...args: readonly string[]): Promise<Outcome> {
  let stdout = ''
  let stderr = ''
  const exitCode = await schemasCommand(args, {
    root,
    stdout: (text) => void (stdout += text),
    stderr: (text) => void (stderr += text),
  })
  return { exitCode, stdout, stderr }
}

/** A copy of the sources and of all that is derived from them, for the time of one test. */
function copyTree(): string {
  const root = mkdtempSync(join(tmpdir(), 'loopchart-schemas-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const folder of ['schemas', 'src/protocol/generated', 'src/frames/generated']) {
    cpSync(join(repository, folder), join(root, folder), { recursive: true })
  }
  return root
}

async function contentOf(root: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')] as const)))
}

test('nothing that is derived from the schemas is stale', async () => {
  const sources = await readSchemaSources(repository)
  const difference = await compareTree(repository, await derivedFiles(sources), derivedFolders(sources))
  expect(difference).toEqual({ missing: [], stale: [], superfluous: [] })
})

test(
  'a check names each file that is stale, missing or superfluous, and a run puts them right',
  { timeout: 60_000 },
  async () => {
    const root = copyTree()
    const before = await contentOf(root)
    writeFileSync(join(root, newest, 'components/Usage.json'), '{}')
    writeFileSync(join(root, newest, 'components/Obsolete.json'), '{}')
    rmSync(join(root, 'src/protocol/generated/event-types.ts'))

    const check = await runSchemas(root, '--check')
    expect(check.exitCode).toBe(1)
    expect(check.stdout.split('\n').toSorted()).toEqual([
      '',
      'missing: src/protocol/generated/event-types.ts',
      `stale: ${newest}/components/Usage.json`,
      `superfluous: ${newest}/components/Obsolete.json`,
    ])
    expect(check.stderr).toBe('schemas: derived files are not up to date; run: npm run schemas\n')

    const run = await runSchemas(root)
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(run.stdout).toContain('1 new, 1 changed, 1 removed')
    expect(await contentOf(root)).toEqual(before)
    expect(await runSchemas(root, '--check')).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  },
)

test(
  'a newer document is vendored byte for byte from a URL, with a licence and its own parts',
  { timeout: 60_000 },
  async () => {
    const root = copyTree()
    const older = readFileSync(join(root, newest, 'openapi.json'), 'utf8')
    const text = older
      .replace('2026-04-24"', '2027-02-03"')
      .replace('response.refusal.delta', 'response.refusal.piece')
    const server = createServer((_, response) => response.end(text)).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo

    expect(await runSchemas(root, `http://127.0.0.1:${port}/openapi.json`)).toMatchObject({
      exitCode: 0,
      stderr: '',
    })
    const added = join(root, 'schemas/openresponses/2027-02-03')
    expect(readFileSync(join(added, 'openapi.json'), 'utf8')).toBe(text)
    expect(readFileSync(join(added, 'LICENSE'), 'utf8')).toBe(
      readFileSync(join(root, newest, 'LICENSE'), 'utf8'),
    )
    expect(readFileSync(join(added, 'event-types.json'), 'utf8')).toContain('response.refusal.piece')
    expect(readFileSync(join(root, 'src/protocol/generated/event-types.ts'), 'utf8')).toContain(
      'response.refusal.piece',
    )
    expect(readFileSync(join(root, newest, 'event-types.json'), 'utf8')).toContain('response.refusal.delta')
    expect(await runSchemas(root, '--check')).toMatchObject({ exitCode: 0 })
  },
)

test.each([
  ['a file that is not there', ['no/such/file.json'], 'cannot read no/such/file.json'],
  [
    'a URL that nobody serves',
    ['http://127.0.0.1:1/openapi.json'],
    'cannot read http://127.0.0.1:1/openapi.json',
  ],
  ['a file that is no document', ['schemas/frames/v1.json'], '"openapi" is not a 3.1 version'],
  ['an option that does not exist', ['--force'], 'usage: npm run schemas'],
  ['more than one argument', ['a.json', 'b.json'], 'usage: npm run schemas'],
])('%s is refused in one line and nothing is written', async (_, args, reason) => {
  const root = copyTree()
  const before = await contentOf(root)
  const { exitCode, stdout, stderr } = await runSchemas(root, ...args)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toContain(reason)
  expect(stderr).toMatch(/^schemas: [^\n]+\n$/)
  expect(await contentOf(root)).toEqual(before)
})

test('the command itself exits with 2 and says why on stderr', () => {
  const script = join(repository, 'scripts/schemas/main.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, '--force'], { encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).toContain('usage: npm run schemas')
})

const streamSchema = [
  'paths',
  '/responses',
  'post',
  'responses',
  '200',
  'content',
  'text/event-stream',
  'schema',
]

test.each<readonly [string, (string | number)[], Json | undefined, string]>([
  ['of another OpenAPI version', ['openapi'], '3.0.3', '"openapi" is not a 3.1 version'],
  ['without a date as version', ['info', 'version'], '1.2.0', '"info.version" is not a date'],
  ['whose version is a path', ['info', 'version'], '../../../2026-04-24', '"info.version" is not a date'],
  ['without schemas', ['components', 'schemas'], undefined, '"schemas" is missing'],
  ['with a schema that is a text', ['components', 'schemas', 'Usage'], 'x', 'schema Usage is not an object'],
  [
    'with a path as the name of a schema',
    ['components', 'schemas', '../x'],
    {},
    '"../x" is no name for a schema',
  ],
  [
    'with a reference to nothing',
    ['components', 'schemas', 'Tool', '$ref'],
    '#/components/schemas/X',
    'leads nowhere',
  ],
  ['without an event stream', streamSchema.slice(0, -1), undefined, '"text/event-stream" is missing'],
  ['without events', [...streamSchema, 'oneOf'], [], 'lists no events'],
  ['with a path as operationId', ['paths', '/responses', 'post', 'operationId'], '../x', 'bad operationId'],
])('a document %s is refused', (_, path, replacement, reason) => {
  const text = JSON.stringify(withValue(readDocument(), path, replacement))
  expect(() => parseOpenApiDocument(text)).toThrow(reason)
})

test('a keyword that ajv does not know stops the derivation instead of being lost', async () => {
  const sources = await readSchemaSources(repository)
  const path = ['components', 'schemas', 'Usage', 'properties', 'input_tokens', 'dependentFormat']
  const text = JSON.stringify(withValue(readDocument(), path, 'x'))
  const documents = new Map([['2026-04-24', text]])
  await expect(derivedFiles({ ...sources, documents })).rejects.toThrow('unknown keyword: "dependentFormat"')
})

test('generated code that would still need ajv when it runs is refused', () => {
  const schemas = new Map<string, JsonObject>([['List', { type: 'array', items: {}, uniqueItems: true }]])
  const single = new Map([['listValidator', 'List']])
  expect(() => validatorModule({ schemas, single, maps: new Map(), protocolPath: './' })).toThrow('require(')
})

test('a component stands in a file of its own and refers to its siblings', () => {
  const text = readFileSync(join(repository, newest, 'components/ItemField.json'), 'utf8')
  expect(text).toContain('"$ref": "./FunctionCall.json"')
  expect(text).not.toContain('#/components')
  const path = readFileSync(join(repository, newest, 'paths/createResponse.json'), 'utf8')
  expect(path).toContain('"$ref": "../components/CreateResponseBody.json"')
})

test('the frame validator and plain ajv on the untouched schema agree on 6,000 mutated frames', () => {
  const schema = JSON.parse(readFileSync(join(repository, 'schemas/frames/v1.json'), 'utf8')) as JsonObject
  const isValid = new Ajv2020({ strict: false, logger: false }).compile(schema)
  const branches = schema['oneOf'] as readonly JsonObject[]
  const choose = seeded(77)
  const disagreements: JsonObject[] = []
  let valid = 0
  for (let count = 0; count < 6000; count += 1) {
    const branch = branches[choose(branches.length)] as JsonObject
    const frame = mutate(sampleValue(branch, schema, { full: choose(2) > 0, choose }) as JsonObject, choose)
    const expected = isValid(frame)
    if (expected) valid += 1
    if (frameValidator(frame) !== expected) disagreements.push(frame)
  }
  expect(disagreements).toEqual([])
  expect(valid).toBeGreaterThan(600)
})
