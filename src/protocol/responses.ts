/** A response with its output, as POST /responses answers and as the events of a stream carry it. */
export type { ResponseResource } from './generated/openresponses.ts'
