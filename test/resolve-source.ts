// For `node --import`: the package's own name means its sources, so that examples run without a build.
import { registerHooks } from 'node:module'

const ENTRIES: Readonly<Record<string, string>> = {
  loopchart: new URL('../src/index.ts', import.meta.url).href,
  'loopchart/frames': new URL('../src/frames/index.ts', import.meta.url).href,
  'loopchart/history': new URL('../src/history/index.ts', import.meta.url).href,
  'loopchart/inspect': new URL('../src/inspect/index.ts', import.meta.url).href,
  'loopchart/machine': new URL('../src/machine.ts', import.meta.url).href,
  'loopchart/server': new URL('../src/server/index.ts', import.meta.url).href,
  'loopchart/testing': new URL('../src/testing/index.ts', import.meta.url).href,
  'loopchart/tools': new URL('../src/tools/index.ts', import.meta.url).href,
}

registerHooks({
  resolve: (specifier, context, next) => next(ENTRIES[specifier] ?? specifier, context),
})
