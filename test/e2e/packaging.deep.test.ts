import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'

import { listImports } from '../architecture/list-imports.ts'
import { need } from '../need.ts'

/** The oldest Node that `engines` allows, and the one that the tests run on. */
const NODE_VERSIONS = ['22.13.0', process.versions.node]

const COMMAND_TIMEOUT_MS = 5 * 60_000
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

const repository = fileURLToPath(new URL('../../', import.meta.url))
const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
}
const subpaths = Object.keys(manifest.exports).map((subpath) => manifest.name + subpath.slice(1))
const scratch = mkdtempSync(join(tmpdir(), 'loopchart-packaging-'))

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('the package holds no source, no test and no fixture', async (context) => {
  const files = listPacked(await installed(context))
  expect(files).toContain('package.json')
  expect(files).toContain('dist/src/index.js')
  expect(files.filter((path) => /(?<!\.d)\.[cm]?tsx?$/.test(path))).toEqual([])
  expect(files.filter((path) => /(^|\/)(tests?|fixtures)(\/|$)|\.test\./.test(path))).toEqual([])
})

test('only the tools of the package import ajv', async (context) => {
  const project = await installed(context)
  const code = listPacked(project).filter((path) => /^dist\/.*\.[cm]?[jt]s$/.test(path))
  expect(code.length).toBeGreaterThan(0)
  const importers = code.filter((path) =>
    listImports(path, readFileSync(join(packageIn(project), path), 'utf8')).some(({ specifier }) =>
      /^ajv(\/|$)/.test(specifier ?? ''),
    ),
  )
  expect(importers.filter((path) => !/^dist\/src\/(tools\/|chunks\/tools\.js$)/.test(path))).toEqual([])
})

test('a consumer that imports every subpath type-checks, declarations of the package included', async (context) => {
  const project = await installed(context)
  const lines = subpaths.map((name, index) => importLine(name, index))
  const names = subpaths.map((_name, index) => `entry${index}`)
  writeFileSync(
    join(project, 'consumer.ts'),
    `${lines.join('\n')}\nexport const entries: readonly object[] = [${names.join(', ')}]\n`,
  )
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        module: 'nodenext',
        target: 'es2023',
        lib: ['es2024'],
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        resolveJsonModule: true,
        types: ['node'],
        typeRoots: [join(repository, 'node_modules/@types')],
      },
      files: ['consumer.ts'],
    }),
  )
  const tsc = join(repository, 'node_modules/typescript/bin/tsc')
  expect(await run(process.execPath, [tsc, '-p', project], project)).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
})

describe.each(NODE_VERSIONS)('on Node %s', (version) => {
  test('every subpath can be imported, and nothing is written to stderr', async (context) => {
    const project = await installed(context)
    const node = await nodeBinary(version)
    const lines = subpaths.map((name, index) => importLine(name, index))
    const counts = subpaths.map((_name, index) => `Object.keys(entry${index}).length`)
    const script = `${lines.join('\n')}\nconsole.log(process.version, Math.min(${counts.join(', ')}) > 0)\n`
    writeFileSync(join(project, 'consumer.mjs'), script)
    const result = await run(node, ['consumer.mjs'], project)
    expect(result).toEqual({ code: 0, stdout: `v${version} true\n`, stderr: '' })
  })

  test('a run is kept, and read back with all that reading loads', async (context) => {
    const project = await installed(context)
    const script = `
      import { agent, openStore, replay, run } from 'loopchart'
      import { assistantMessage, scriptedModel } from 'loopchart/testing'
      const store = openStore('runs-${version}.db')
      const assistant = agent({ model: scriptedModel([assistantMessage('hi')]) })
      const { state } = await run(assistant, 'hello', { store, runId: 'run_1' }).result
      const frames = [...store.read('run_1')]
      console.log(state, frames.at(-1).type, replay(frames).ok)`
    writeFileSync(join(project, 'keep.mjs'), script)
    const { code, stdout, stderr } = await run(await nodeBinary(version), ['keep.mjs'], project)
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done run_ended true\n' })
    // Of SQLite the older Node says that it is experimental; of anything else it must say nothing.
    expect(stderr.replace(/^.*SQLite is an experimental feature[^]*$/m, '')).toBe('')
  })

  test('a run goes over HTTP past fetch, to what the fetch of this Node uses', async (context) => {
    const project = await installed(context)
    const script = `
      import { agent, openResponses, run } from 'loopchart'
      import { createServer } from 'node:http'
      import { gzipSync } from 'node:zlib'
      const output = [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed',
        content: [{ type: 'output_text', text: 'hi', annotations: [], logprobs: [] }] }]
      const modes = []
      const server = createServer((request, response) => {
        modes.push(request.headers['sec-fetch-mode'] ?? 'none')
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        request.resume().on('end', () => response.end(gzipSync(JSON.stringify({ id: 'resp_1', status: 'completed', output }))))
      })
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
      const baseUrl = \`http://127.0.0.1:\${server.address().port}/v1\`
      const { state, text } = await run(agent({ model: openResponses({ model: 'm', baseUrl, apiKey: '' }) }), 'hello').result
      console.log(state, text, modes.join())
      process.exit()`
    writeFileSync(join(project, 'over-http.mjs'), script)
    const result = await run(await nodeBinary(version), ['over-http.mjs'], project)
    expect(result).toEqual({ code: 0, stdout: 'done hi none\n', stderr: '' })
  })

  test('the installed command prints its version', async (context) => {
    const result = await runCommand(await installed(context), version, '--version')
    expect(result).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
  })

  test('the installed command decodes a recorded stream', async (context) => {
    const stream = fileURLToPath(new URL('../../fixtures/streams/two-calls.sse', import.meta.url))
    const result = await runCommand(await installed(context), version, 'decode', stream)
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toContain('completed  "resp_1"  4 items, 2 calls')
  })

  test('the installed command prints its help', async (context) => {
    const result = await runCommand(await installed(context), version, '--help')
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toContain(`Usage: ${manifest.name} `)
  })
})

let installing: Promise<string> | undefined

/** An empty project with the packed tarball installed, made once for all tests of this file. */
async function installed(context: TestContext): Promise<string> {
  need(context, 'build')
  need(context, 'registry')
  installing ??= packAndInstall()
  return installing
}

async function packAndInstall(): Promise<string> {
  const project = join(scratch, 'project')
  mkdirSync(project)
  await npm(repository, ['pack', '--ignore-scripts', '--pack-destination', scratch])
  const tarball = readdirSync(scratch).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm pack made no tarball')
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await npm(project, ['install', '--no-audit', '--no-fund', join(scratch, tarball)])
  return project
}

const binaries = new Map<string, Promise<string>>([
  [process.versions.node, Promise.resolve(process.execPath)],
])

/** The package of one platform holds the binary itself; the package `node` would fetch it in a script. */
async function nodeBinary(version: string): Promise<string> {
  const known = binaries.get(version)
  if (known !== undefined) return known
  const making = installNode(version)
  binaries.set(version, making)
  return making
}

async function installNode(version: string): Promise<string> {
  const folder = join(scratch, `node-${version}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  const name = `node-${process.platform}-${process.arch}`
  await npm(folder, ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`])
  return join(folder, 'node_modules', name, 'bin/node')
}

/** Runs the command as a shell would: the link in .bin, its first line, the first `node` on the PATH. */
async function runCommand(project: string, version: string, ...options: readonly string[]): Promise<Result> {
  const path = dirname(await nodeBinary(version)) + delimiter + (process.env['PATH'] ?? '')
  return run(join(project, 'node_modules/.bin', manifest.name), options, project, { PATH: path })
}

function importLine(specifier: string, index: number): string {
  const attributes = specifier.endsWith('.json') ? ` with { type: 'json' }` : ''
  const binding = specifier.endsWith('.json') ? `entry${index}` : `* as entry${index}`
  return `import ${binding} from '${specifier}'${attributes}`
}

function packageIn(project: string): string {
  return join(project, 'node_modules', manifest.name)
}

function listPacked(project: string): readonly string[] {
  return globSync('**/*', { cwd: packageIn(project) })
}

async function npm(folder: string, parameters: readonly string[]): Promise<void> {
  const { code, stderr } = await run('npm', parameters, folder)
  if (code !== 0) throw new Error(`npm ${parameters[0]} ended with ${code}: ${stderr}`)
}

interface Result {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

async function run(
  file: string,
  parameters: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const options = {
    cwd: folder,
    encoding: 'utf8' as const,
    timeout: COMMAND_TIMEOUT_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
  }
  return new Promise((resolve) => {
    const child = execFile(file, parameters, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? 'killed'), stdout, stderr })
    })
    child.stdin?.end()
  })
}
