export { FRAME_VERSION, FrameStamp } from './frame-stamp.ts'
export {
  makeFrame,
  outputTextDeltaFrame,
  providerEventFrame,
  reasoningDeltaFrame,
  refusalDeltaFrame,
} from './make-frame.ts'
export { responseFirstByteFrame, responseHeadersFrame } from './turn-frames.ts'
export type { FramePayload, ProviderEventPayload } from './make-frame.ts'
export { eventData, eventText } from './event-data.ts'
export { formatFrame } from './format-frame.ts'
export { parseFrame } from './parse-frame.ts'
export type * from './generated/frame.ts'
