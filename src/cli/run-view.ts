import type { Frame } from '../frames/generated/frame.ts'

/** Shows a run while it goes on. Frames have been through a redactor. */
export interface RunView {
  frame(frame: Frame): void
  /** Takes a frame from before the run was resumed: it has been shown once. */
  past(frame: Frame): void
  /** Nothing more comes: puts the terminal back as it was. */
  close(): void
}
