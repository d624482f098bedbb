import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { checkImports } from './check-imports.ts'
import { IMPORT_TABLE } from './import-table.ts'
import { listImports } from './list-imports.ts'
import { readSources } from './read-sources.ts'

test('every import in src/ and machines/ is allowed by the import table, and none closes a cycle', () => {
  const sources = readSources()
  expect([...sources.keys()]).toContain('src/errors.ts')
  expect(checkImports(sources, readDependencies())).toEqual([])
})

test('every room that the import table names has a rule of its own', () => {
  const named = Object.values(IMPORT_TABLE).flatMap(({ rooms, typesOf = [] }) =>
    rooms === 'any' ? typesOf : rooms.concat(typesOf),
  )
  expect(named.filter((room) => IMPORT_TABLE[room] === undefined)).toEqual([])
})

test('the scanner finds each form of import, also over several lines', () => {
  const source = `
    import a, {
      b, // a comment's quote
      type C,
    } from
      './static.ts'
    import './bare.ts'
    import type { D } from './type.ts'
    import * as e from './namespace.ts'
    export { f } from './export.ts'
    export type { G } from './export-type.ts'
    export * from './export-all.ts'
    const h = await import(/* why */ './dynamic.ts')
    const i = await import(\`./template.ts\`)
    const j = \`\${await import("./inside-a-template.ts")}\`
    type K = import('./import-type.ts').K
    const l = require('./required.cjs')
    const m = await import(name)`
  expect(listImports('a.ts', source)).toEqual([
    { specifier: './static.ts', typeOnly: false },
    { specifier: './bare.ts', typeOnly: false },
    { specifier: './type.ts', typeOnly: true },
    { specifier: './namespace.ts', typeOnly: false },
    { specifier: './export.ts', typeOnly: false },
    { specifier: './export-type.ts', typeOnly: true },
    { specifier: './export-all.ts', typeOnly: false },
    { specifier: './dynamic.ts', typeOnly: false },
    { specifier: './template.ts', typeOnly: false },
    { specifier: './inside-a-template.ts', typeOnly: false },
    { specifier: './import-type.ts', typeOnly: true },
    { specifier: './required.cjs', typeOnly: false },
    { specifier: undefined, typeOnly: false },
  ])
})

test('the scanner takes no comment, string or regular expression for an import', () => {
  const source = `
    // import './line.ts'
    /* import './block.ts'
       import('./block.ts') */
    const a = "import './string.ts'; import('./string.ts')"
    const b = 'it\\'s import("./quote.ts")'
    const c = \`import './template.ts' \${'export * from "./nested.ts"'}\`
    const d = /["'] import('.\\/regexp.ts')/
    const e = { import: 'x', from: './object.ts' }
    export { a, b, c, d, e }`
  expect(listImports('a.ts', source)).toEqual([])
})

test('a file that does not parse is an error with its name, not a file without imports', () => {
  expect(() => listImports('src/a.ts', 'import { from')).toThrow('src/a.ts does not parse')
})

test.each([
  [
    'a room that the importing room may not use',
    { 'src/stream/a.ts': `import { b } from '../frames/b.ts'`, 'src/frames/b.ts': '' },
    `src/stream/a.ts: import '../frames/b.ts': stream may not import frames`,
  ],
  [
    'a package that is not put into the page',
    { 'src/inspect/page/a.tsx': `import { z } from 'zod'; export const A = (): unknown => <p>{z}</p>` },
    `src/inspect/page/a.tsx: import 'zod': zod is not allowed here`,
  ],
  [
    'a part of Node in the page',
    { 'src/inspect/page/a.ts': `import { join } from 'node:path'` },
    `src/inspect/page/a.ts: import 'node:path': must also run without Node`,
  ],
  [
    'a type from a room that may not be imported',
    { 'src/stream/a.ts': `import type { B } from '../frames/b.ts'`, 'src/frames/b.ts': '' },
    `src/stream/a.ts: import '../frames/b.ts': stream may not import frames`,
  ],
  [
    'a dynamic import from protocol',
    { 'src/protocol/a.ts': `await import('../stream/b.ts')`, 'src/stream/b.ts': '' },
    `src/protocol/a.ts: import '../stream/b.ts': protocol may not import stream`,
  ],
  [
    'anything from errors',
    { 'src/errors.ts': `import '../src/protocol/b.ts'`, 'src/protocol/b.ts': '' },
    `src/errors.ts: import '../src/protocol/b.ts': errors may not import protocol`,
  ],
  [
    'cli from the room that may import any',
    { 'src/index.ts': `export { b } from './cli/b.ts'`, 'src/cli/b.ts': '' },
    `src/index.ts: import './cli/b.ts': nothing imports cli`,
  ],
  [
    'the package root from a room',
    { 'src/server/a.ts': `import { b } from '../index.ts'`, 'src/index.ts': '' },
    `src/server/a.ts: import '../index.ts': server may not import index`,
  ],
  [
    'the subpath entry of a room that may not be imported',
    { 'src/tools/a.ts': `import { b } from '../frames/index.ts'`, 'src/frames/index.ts': '' },
    `src/tools/a.ts: import '../frames/index.ts': tools may not import frames`,
  ],
  [
    'a value of protocol into machines',
    { 'machines/a.machine.ts': `import { b } from '../src/protocol/b.ts'`, 'src/protocol/b.ts': '' },
    `machines/a.machine.ts: import '../src/protocol/b.ts': machines may import only types of protocol`,
  ],
  [
    'a type marked inside the braces into machines',
    { 'machines/a.machine.ts': `import { type B } from '../src/protocol/b.ts'`, 'src/protocol/b.ts': '' },
    `machines/a.machine.ts: import '../src/protocol/b.ts': machines may import only types of protocol`,
  ],
  [
    'errors into machines',
    { 'machines/a.machine.ts': `import type { B } from '../src/errors.ts'`, 'src/errors.ts': '' },
    `machines/a.machine.ts: import '../src/errors.ts': machines may not import errors`,
  ],
  [
    'a builtin into machines',
    { 'machines/a.machine.ts': `import { join } from 'node:path'` },
    `machines/a.machine.ts: import 'node:path': must also run without Node`,
  ],
  [
    'a declared package other than xstate into machines',
    { 'machines/a.machine.ts': `import { Command } from 'commander'` },
    `machines/a.machine.ts: import 'commander': commander is not allowed here`,
  ],
  [
    'a package that is not declared',
    { 'src/protocol/a.ts': `const equal = require('ajv/dist/runtime/equal')` },
    `src/protocol/a.ts: import 'ajv/dist/runtime/equal': ajv is not in dependencies`,
  ],
  [
    'a type of a package that is not declared',
    { 'src/protocol/a.ts': `import type { B } from '@scope/b/c'` },
    `src/protocol/a.ts: import '@scope/b/c': @scope/b is not in dependencies`,
  ],
  [
    'a builtin without its prefix',
    { 'src/stream/a.ts': `import { join } from 'path'` },
    `src/stream/a.ts: import 'path': write a builtin with node:`,
  ],
  [
    'a file outside src/ and machines/',
    { 'src/stream/a.ts': `import '../../test/need.ts'` },
    `src/stream/a.ts: import '../../test/need.ts': leaves the rooms of src/ and machines/`,
  ],
  [
    'a file that is not there',
    { 'src/stream/a.ts': `import './b'`, 'src/stream/b.ts': '' },
    `src/stream/a.ts: import './b': no such file`,
  ],
  [
    'a computed specifier outside cli',
    { 'src/stream/a.ts': 'await import(name)', 'src/cli/a.ts': 'await import(name)' },
    `src/stream/a.ts: import '(computed)': cannot be checked`,
  ],
  [
    'a cycle of types inside one room',
    {
      'src/stream/a.ts': `import type { B } from './b.ts'`,
      'src/stream/b.ts': `export * from './c.ts'`,
      'src/stream/c.ts': `import { a } from './a.ts'`,
    },
    'src/stream/a.ts: cycle: src/stream/a.ts -> src/stream/b.ts -> src/stream/c.ts -> src/stream/a.ts',
  ],
  [
    'a folder that is not a room',
    { 'src/helpers/a.ts': '' },
    'src/helpers/a.ts: is in no room of the import table',
  ],
  ['a stray file in src/', { 'src/helpers.ts': '' }, 'src/helpers.ts: is in no room of the import table'],
])('the check names file and specifier of %s', (_name, sources, problem) => {
  expect(checkImports(new Map(Object.entries(sources)), ['commander', 'xstate'])).toEqual([problem])
})

test('the check lets through what the table allows', () => {
  const sources = {
    'machines/a.machine.ts': `
      import { setup } from 'xstate'
      import type { B } from '../src/protocol/b.ts'
      import { c } from './c.ts'`,
    'machines/c.ts': '',
    'src/errors.ts': '',
    'src/protocol/b.ts': `import { B } from '../errors.ts'`,
    'src/protocol/generated/b.js': '',
    'src/chart/a.ts': `import { a } from '../../machines/a.machine.ts'; import '../protocol/b.ts'`,
    'src/history/a.ts': `import { a } from '../frames/index.ts'; import { readFileSync } from 'node:fs'`,
    'src/frames/index.ts': `export { a } from './a.ts'`,
    'src/frames/a.ts': `import '../errors.ts'`,
    'src/cli/main.ts': `import { Command } from 'commander'; import '../index.ts'; import '../chart/a.ts'`,
    'src/index.ts': `export { a } from './history/a.ts'`,
  }
  expect(checkImports(new Map(Object.entries(sources)), ['commander', 'xstate'])).toEqual([])
})

function readDependencies(): readonly string[] {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> }
  return Object.keys(dependencies)
}
