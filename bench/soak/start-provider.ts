import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface StartedProvider {
  readonly url: string
  readonly stop: () => void
}

/** Starts the provider in a process of its own, so that what it costs is not what is measured. */
export async function startProvider(): Promise<StartedProvider> {
  const child = fork(fileURLToPath(new URL('provider-child.ts', import.meta.url)))
  const failed = new AbortController()
  const onExit = (): void => failed.abort(new Error('the provider of the soak did not start'))
  child.once('exit', onExit)
  try {
    const [{ url }] = (await once(child, 'message', { signal: failed.signal })) as [{ readonly url: string }]
    return { url, stop: () => void child.kill('SIGKILL') }
  } catch (error) {
    throw failed.signal.reason ?? error
  } finally {
    child.off('exit', onExit)
  }
}
