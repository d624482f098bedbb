import { readdirSync, readFileSync } from 'node:fs'
import type { Buffer } from 'node:buffer'

const FOLDER = new URL('../../fixtures/streams/', import.meta.url)

export function fixtureNames(): readonly string[] {
  return readdirSync(FOLDER).map((file) => file.replace(/\.sse$/u, ''))
}

export function readFixture(name: string): Buffer {
  return readFileSync(new URL(`${name}.sse`, FOLDER))
}
