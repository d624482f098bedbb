import { performance } from 'node:perf_hooks'

import type { ReaderEnd } from './sse-reader.ts'

/** What is counted at the moment of asking. */
export interface Gauges {
  readonly runs: number
  readonly readers: number
}

/** What a service has done, as Prometheus reads it. */
export class Metrics {
  readonly #requests = new Map<string, number>()
  readonly #runsEnded = new Map<string, number>()
  readonly #readersClosed = new Map<ReaderEnd, number>()
  #runsStarted = 0
  #runsTakenUp = 0
  #frames = 0
  #bytes = 0

  request(method: string, route: string, status: number): void {
    count(this.#requests, `method="${method}",route="${route}",status="${status}"`)
  }

  runStarted(): void {
    this.#runsStarted += 1
  }

  runTakenUp(): void {
    this.#runsTakenUp += 1
  }

  /** `state` is that of the chart, `suspended`, or `broken`. */
  runLeft(state: string): void {
    count(this.#runsEnded, state)
  }

  sent(frames: number, bytes: number): void {
    this.#frames += frames
    this.#bytes += bytes
  }

  readerClosed(why: ReaderEnd): void {
    count(this.#readersClosed, why)
  }

  /** In the text format of Prometheus, version 0.0.4. */
  text({ runs, readers }: Gauges): string {
    const { utilization } = performance.eventLoopUtilization()
    return [
      family('loopchart_runs', 'gauge', 'Runs that are driven here now.', [['', runs]]),
      family('loopchart_runs_started_total', 'counter', 'Runs begun here.', [['', this.#runsStarted]]),
      family('loopchart_runs_taken_up_total', 'counter', 'Runs taken up from the store.', [
        ['', this.#runsTakenUp],
      ]),
      family(
        'loopchart_runs_left_total',
        'counter',
        'Runs that are not driven here any more, by how they were left.',
        labelled('state', this.#runsEnded),
      ),
      family('loopchart_readers', 'gauge', 'Open streams of frames.', [['', readers]]),
      family(
        'loopchart_readers_closed_total',
        'counter',
        'Streams of frames that were closed, by why.',
        labelled('reason', this.#readersClosed),
      ),
      family('loopchart_frames_sent_total', 'counter', 'Frames sent to readers.', [['', this.#frames]]),
      family('loopchart_frame_bytes_sent_total', 'counter', 'Their bytes.', [['', this.#bytes]]),
      family('loopchart_http_requests_total', 'counter', 'Requests answered.', [...this.#requests]),
      family('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [
        ['', process.memoryUsage.rss()],
      ]),
      family('nodejs_eventloop_utilization', 'gauge', 'Share of time that the event loop was busy.', [
        ['', utilization],
      ]),
    ].join('')
  }
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function labelled(label: string, counts: ReadonlyMap<string, number>): readonly [string, number][] {
  return [...counts].map(([value, many]) => [`${label}="${value}"`, many])
}

function family(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  samples: readonly (readonly [labels: string, value: number])[],
): string {
  const lines = samples.map(([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}
