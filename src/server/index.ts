// Runs over HTTP.
export { createService } from './create-service.ts'
export type { Service, ServiceLimits, ServiceOptions } from './create-service.ts'
export type { Scope, ServiceToken } from './tokens.ts'
export { listen } from './listen.ts'
export type { Listening, ListenOptions } from './listen.ts'
export { nodeListener } from './node-listener.ts'
export type { FetchHandler, NodeListener, NodeListenerOptions } from './node-listener.ts'
