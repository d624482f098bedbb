/** The body of POST /responses. */
export type { CreateResponseBody } from './generated/openresponses.ts'
