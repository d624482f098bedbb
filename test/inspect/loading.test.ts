import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, test, vi } from 'vitest'
import { build, type Rolldown } from 'vite'

vi.setConfig({ testTimeout: 60_000 })

const root = new URL('../../', import.meta.url)

test('importing the package root loads nothing of the inspect room, and a run without an inspector neither', () => {
  expect(inspectFilesAfter('')).toEqual([])
  expect(inspectFilesAfter(RUN)).toEqual([])
})

test('a run with an inspector loads what it needs when it starts, and no event is lost', () => {
  const loaded =
    inspectFilesAfter(`const events = []; ${RUN.replace('{}', '{ inspect: (event) => events.push(event.type) }')}
    if (events[0] !== '@xstate.actor' || events.at(-1) !== '@xstate.snapshot') throw new Error(events.join())`)
  expect(loaded).toContain('follow-run.ts')
  expect(loaded).not.toContain('connect-stately.ts')
})

test('a history is bundled for a browser without anything of Node', async () => {
  const built = await build({
    root: fileURLToPath(root),
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      lib: { entry: fileURLToPath(new URL('src/inspect/run-history.ts', root)), formats: ['es'] },
    },
  })
  const [output] = (Array.isArray(built) ? built : [built]) as Rolldown.RolldownOutput[]
  const [chunk] = output?.output ?? []
  expect(chunk?.code).toContain('run_started')
  expect(chunk?.imports).toEqual([])
  expect(chunk?.moduleIds.filter((id) => /^node:|browser-external/u.test(id))).toEqual([])
})

const RUN = `
  const { assistantMessage, scriptedModel } = await import('./src/testing/index.ts')
  const { agent, run } = root
  const { state } = await run(agent({ model: scriptedModel([assistantMessage('hi')]) }), 'hello', {}).result
  if (state !== 'done') throw new Error(state)`

/** The files of the room that a fresh process has loaded after importing the package root and doing something. */
function inspectFilesAfter(code: string): readonly string[] {
  const script = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({
      load(url, context, nextLoad) {
        urls.push(url)
        return nextLoad(url, context)
      },
    })
    const root = await import('./src/index.ts')
    ${code}
    console.log(JSON.stringify(urls))`
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: fileURLToPath(root),
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  expect(child.stderr).toBe('')
  const urls = JSON.parse(child.stdout) as readonly string[]
  return urls.flatMap((url) => /\/src\/inspect\/(.+)$/u.exec(url)?.[1] ?? [])
}
