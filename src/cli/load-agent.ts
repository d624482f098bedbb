import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { LoopchartError } from '../errors.ts'
import type { Agent } from '../loop/agent.ts'

/**
 * Loads an agent from a module of the user's: `FILE` for its default export, `FILE#name` for another. What the module
 * does while it loads is its own affair. Throws `file_unreadable` or `agent_invalid`.
 */
export async function loadAgent(place: string): Promise<Agent> {
  const [, file = place, name = 'default'] = /^(.+)#([\w$]+)$/u.exec(place) ?? []
  const module = await importFile(file)
  const found = module[name]
  if (isAgent(found)) return found
  const others = Object.keys(module).filter((other) => isAgent(module[other]))
  const hint = others.length === 0 ? 'export what agent() gives' : `take ${file}#${others[0] ?? ''}`
  const what = name === 'default' ? 'no agent as its default export' : `no agent called ${name}`
  throw new LoopchartError('agent_invalid', `${file} has ${what}; ${hint}`)
}

async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(file)
  checkThere(file, path)
  const { promise: stuck, reject } = Promise.withResolvers<never>()
  // A module that waits for nothing would end the process without a word.
  const onIdle = (): void => reject(new Error('it never finishes loading: it waits for what cannot come'))
  process.once('beforeExit', onIdle)
  try {
    const module: unknown = await Promise.race([import(pathToFileURL(path).href), stuck])
    return Object(module)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const isTypeScript = /\.[cm]?ts$/u.test(file) && /Unknown file extension/u.test(reason)
    const hint = isTypeScript ? 'Node 22.18 or newer reads TypeScript' : 'correct it, or give another file'
    throw new LoopchartError('file_unreadable', `cannot load the agent of ${file}: ${reason}; ${hint}`, {
      cause,
    })
  } finally {
    process.off('beforeExit', onIdle)
  }
}

/** Before it is imported: Node would name the file of this package that asked for it. */
function checkThere(file: string, path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isDirectory()) return
  const what = found === undefined ? `there is no file ${path}` : `${path} is a folder`
  throw new LoopchartError(
    'file_unreadable',
    `cannot load the agent of ${file}: ${what}; give the path of a module that exports an agent`,
  )
}

// By its shape: the file may have brought its own copy of this package.
function isAgent(value: unknown): value is Agent {
  if (typeof value !== 'object' || value === null) return false
  const { buildRequest, settings, tools } = Object(value)
  return typeof buildRequest === 'function' && Boolean(settings?.limits) && Array.isArray(tools?.definitions)
}
