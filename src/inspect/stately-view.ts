import type { Inspect, StatelyEvent } from './inspection-event.ts'

/** What whoever sends a run to the Stately inspector must know. */
export const STATELY_NOTICE =
  'The Stately inspector is a page of stately.ai: everything that is sent to it, prompts, answers, arguments and ' +
  'outputs of tools included, is shown by a page that somebody else hosts.'

/** What takes events for the Stately inspector, such as the `adapter` of an inspector of @statelyai/inspect. */
export interface StatelyAdapter {
  send(event: StatelyEvent): void
}

export interface StatelyOptions {
  /** Told once that data reaches a hosted page; the console when left out. */
  readonly notify?: (notice: string) => void
}

/**
 * Passes a stream on to the Stately inspector, through whatever carries events there: `createBrowserInspector(...)
 * .adapter` in a page, `createWebSocketInspector(...).adapter`, or one of your own. Microsteps are left out, since it
 * does not know them. Says once that the data reaches a hosted page.
 */
export function statelyView(adapter: StatelyAdapter, { notify = warn }: StatelyOptions = {}): Inspect {
  notify(STATELY_NOTICE)
  return (event) => {
    if (event.type !== '@loopchart.microstep') adapter.send(event)
  }
}

function warn(notice: string): void {
  console.warn(notice)
}
