import type { Client } from './client.ts'

/** Every client by its name, loaded only in the process that measures it. */
export const CLIENTS: Readonly<Record<string, () => Promise<Client>>> = {
  floor: async () => (await import('./floor-client.ts')).floorClient(),
  loopchart: async () => (await import('./loopchart-client.ts')).loopchartClient(),
  'loopchart-sqlite': async () => (await import('./loopchart-client.ts')).loopchartSqliteClient(),
}
