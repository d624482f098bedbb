import { createActor, fromPromise, type InspectionEvent } from 'xstate'

import { loopMachine } from '../../machines/loop.machine.ts'
import type {
  CompactInput,
  CompactOutput,
  DrainOutput,
  LoopEmitted,
  RespondInput,
  RespondOutput,
  RunToolInput,
  RunToolOutput,
} from '../../machines/loop.types.ts'
import type { LoopPath } from '../../src/chart/loop-paths.ts'
import type { LoopPathEvent } from '../../src/chart/loop-events.ts'
import type { StartedEffect } from '../../src/chart/pure-fold.ts'
import { statePath } from './state-path.ts'
import { settledId, type PathHost, type PathStep } from './path-host.ts'

/** The chart as an ordinary actor whose effects settle when the path says so. */
export const actorHost: PathHost = { name: 'actor', run: async (path) => actPath(path) }

/** Runs a path on a real actor. */
export async function actPath(
  path: LoopPath,
  inspect?: (event: InspectionEvent) => void,
): Promise<readonly PathStep[]> {
  const world = new World()
  const machine = loopMachine.provide({
    actors: {
      respond: world.effect<RespondOutput, RespondInput>('respond'),
      runTool: world.effect<RunToolOutput, RunToolInput>('runTool'),
      timer: world.effect<null, { at: number | null }>('timer'),
      compact: world.effect<CompactOutput, CompactInput>('compact'),
      drain: world.effect<DrainOutput, { slots: readonly number[] }>('drain'),
    },
  })
  const actor = createActor(
    machine,
    inspect === undefined ? { input: path.input } : { input: path.input, inspect },
  )
  actor.on('*', (told) => world.told.push(told))
  actor.subscribe({ error: () => undefined })
  const look = (): PathStep => {
    const snapshot = actor.getSnapshot()
    const { status, context, output } = snapshot
    return { state: statePath(snapshot), status, context, output, ...world.takeSeen() }
  }
  actor.start()
  const steps = [look()]
  for (const event of path.events) {
    // An actor that has ended warns about each event; that the chart takes none is what the fold shows.
    if (actor.getSnapshot().status === 'active')
      await world.happen(event, (sent) => actor.send(sent as never))
    steps.push(look())
  }
  return steps
}

interface Deferred {
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** Effects that wait to be told how they end. */
class World {
  readonly #live = new Map<string, Deferred>()
  #started: StartedEffect[] = []
  #aborted: string[] = []
  told: LoopEmitted[] = []

  effect<Output, Input>(name: StartedEffect['effect']): ReturnType<typeof fromPromise<Output, Input>> {
    return fromPromise<Output, Input>(({ input, self, signal }) => {
      this.#started.push({ id: self.id, effect: name, input } as StartedEffect)
      return new Promise<Output>((resolve, reject) => {
        const deferred: Deferred = { resolve, reject }
        this.#live.set(self.id, deferred)
        signal.addEventListener('abort', () => {
          if (this.#live.get(self.id) === deferred) this.#live.delete(self.id)
          this.#aborted.push(self.id)
        })
      })
    })
  }

  /** Makes an event happen as in life: effects settle by themselves, everything else is sent. */
  async happen(event: LoopPathEvent, send: (event: LoopPathEvent) => void): Promise<void> {
    const id = settledId(event.type)
    if (id === null) return send(event)
    const deferred = this.#live.get(id)
    this.#live.delete(id)
    if (deferred === undefined) throw new Error(`${event.type} cannot happen: ${id} is not at work`)
    if ('error' in event) deferred.reject(event.error)
    else deferred.resolve(('output' in event ? event.output : null) as never)
    // One turn of the queue for the promise, one for the actor around it, one to spare.
    for (let turn = 0; turn < 4; turn++) await Promise.resolve()
  }

  takeSeen(): Pick<PathStep, 'started' | 'aborted' | 'told'> {
    const seen = { started: this.#started, aborted: this.#aborted, told: this.told }
    this.#started = []
    this.#aborted = []
    this.told = []
    return seen
  }
}
