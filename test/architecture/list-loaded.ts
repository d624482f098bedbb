import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect } from 'vitest'

const root = new URL('../../', import.meta.url)

/** Packages that only some users need: nobody pays for one of them before it is used. */
const LAZY_PACKAGES = ['zod', 'ajv', 'execa', 'pino', 'hono', 're2js', 'commander']

/** The URL of every module that a fresh process has loaded after one import, with the rest of its command line. */
export function listLoaded(specifier: string, ...parameters: readonly string[]): readonly string[] {
  const script = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({
      load(url, context, nextLoad) {
        urls.push(url)
        return nextLoad(url, context)
      },
    })
    process.argv = [process.execPath, ${JSON.stringify(specifier)}, ...process.argv.slice(1)]
    await import(${JSON.stringify(specifier)})
    console.log('\\n' + JSON.stringify(urls))`
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', script, '--', ...parameters], {
    cwd: fileURLToPath(root),
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  expect(child.stderr).toBe('')
  return JSON.parse(child.stdout.trimEnd().split('\n').at(-1) ?? '') as readonly string[]
}

/** Those of the packages above that URLs of modules are of. */
export function lazyPackagesAmong(urls: readonly string[]): readonly string[] {
  return LAZY_PACKAGES.filter((name) => urls.some((url) => url.includes(`/node_modules/${name}/`)))
}
