// node scripts/bundle.ts: puts the code that tsc has written to dist/src, a file for each source, into few files. Node
// takes about a third of a millisecond for every file that it loads, and the package root would need 270 of them.
// machines/ stays as tsc has written it: the chart is there to be read, with its comments.
import { globSync, readFileSync, rmSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

import { rolldown, type Plugin } from 'rolldown'

const root = fileURLToPath(new URL('../', import.meta.url)).replaceAll('\\', '/')

/**
 * Entries that need little, and must not load more because the package root needs it: what a few of them share is in
 * chunks/base.js, what the root shares with one of them in a file of its own, and the rest of the root in chunks/core.js.
 */
const SMALL = [
  'src/cli/main',
  'src/frames/index',
  'src/history/index',
  'src/inspect/index',
  'src/tools/index',
]

/** What is large and seldom needed, and is loaded by its path when it is. */
const LAZY = ['src/frames/generated/validate-frame']

const entries = listEntries()
const reached = new Map<string, ReadonlySet<string>>()
const bundle = await rolldown({
  input: Object.fromEntries([...entries, ...LAZY].map((name) => [name, `${root}${name}.ts`])),
  cwd: root,
  platform: 'node',
  // Every package, and what Node brings along.
  external: /^(?:node:|[@a-z][^:]*$)/,
  plugins: [besideMachines(), unmappedValidators()],
  // What is shared is in chunks/, so that an entry exports its own names and nothing else.
  preserveEntrySignatures: 'allow-extension',
})
const { output } = await bundle.write({
  dir: `${root}dist`,
  format: 'es',
  entryFileNames: '[name].js',
  // As deep as the sources are: what they find with import.meta.url is where they look for it.
  chunkFileNames: 'src/chunks/[name].js',
  // With lines and names, without the sources themselves: enough to read a stack trace that somebody sends.
  sourcemap: true,
  sourcemapExcludeSources: true,
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [
      {
        debugName: 'chunks of the package root',
        name(id, context) {
          if (reached.size === 0) {
            const importsOf = (of: string): readonly string[] => context.getModuleInfo(of)?.importedIds ?? []
            for (const name of entries) reached.set(name, reach([`${root}${name}.ts`], importsOf))
          }
          return chunkOf(id)
        },
      },
    ],
  },
})
const declarations = reach(
  entries.map((name) => `${name}.d.ts`),
  declarationsIn,
)
keepOnly('src/**/*.js', new Set(output.map(({ fileName }) => fileName)))
keepOnly('src/**/*.d.ts', declarations)

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  readonly bin: Readonly<Record<string, string>>
}

/** Where the entries of package.json are, from the root as from dist/, without an ending. */
function listEntries(): readonly string[] {
  const manifest: Manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  const { exports, bin } = manifest
  return [...Object.values(exports), ...Object.values(bin)].flatMap((target) => {
    const path = typeof target === 'string' ? target : target.default
    return /^\.\/dist\/(.+)\.js$/.exec(path)?.[1] ?? []
  })
}

/** Files and all that they lead to. */
function reach(
  files: readonly string[],
  importsOf: (file: string) => readonly string[],
): ReadonlySet<string> {
  const found = new Set(files)
  for (const file of found) for (const next of importsOf(file)) found.add(next)
  return found
}

/** Null leaves it to the bundler: it makes a file for each set of entries that need a source. */
function chunkOf(id: string): string | null {
  if (reached.get('src/index')?.has(id) !== true) return null
  const users = SMALL.filter((name) => reached.get(name)?.has(id))
  if (users.length > 1) return 'base'
  return users[0]?.split('/')[1] ?? 'core'
}

function besideMachines(): Plugin {
  return {
    name: 'beside-machines',
    async resolveId(id, importer) {
      if (!id.includes('machines/')) return null
      const resolved = await this.resolve(id, importer, { skipSelf: true })
      const path = resolved?.id.replaceAll('\\', '/').slice(root.length) ?? ''
      if (!path.startsWith('machines/')) return null
      return { id: `${root}dist/${path.replace(/\.ts$/, '.js')}`, external: 'relative' }
    },
  }
}

/** Nobody looks up a line of a compiled validator, and theirs would be a third of all source maps. */
function unmappedValidators(): Plugin {
  return {
    name: 'unmapped-validators',
    transform: {
      filter: { id: /[\\/]generated[\\/]/ },
      handler: (code) => ({ code, map: { mappings: '' } }),
    },
  }
}

function declarationsIn(path: string): readonly string[] {
  const text = readFileSync(`${root}dist/${path}`, 'utf8')
  const named = [...text.matchAll(/(?:from |import\()'(\.[^']+)\.(?:ts|js)'/g)]
  return named.map(([, name]) => posix.join(posix.dirname(path), `${name}.d.ts`))
}

/** The rest is what each file was before it was bundled, and the types of what nobody can import. */
function keepOnly(pattern: string, kept: ReadonlySet<string>): void {
  for (const path of globSync(pattern, { cwd: `${root}dist` })) {
    if (!kept.has(path.replaceAll('\\', '/'))) rmSync(`${root}dist/${path}`)
  }
}
