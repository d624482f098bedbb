import { expect, test, vi } from 'vitest'

import { need } from '../need.ts'
import type { Machine, Part } from '../need.ts'

const PARTS: readonly Part[] = ['chromium', 'bubblewrap', 'root', 'registry', 'script', 'build']

class Skipped extends Error {}

const context = {
  skip(note?: string | boolean): never {
    throw new Skipped(String(note))
  },
}

function machine(has: boolean, requireAll: boolean): Machine {
  return { requireAll, has: () => has }
}

test.each(PARTS)('a test that needs %s goes on where the part is there', (part) => {
  expect(() => need(context, part, machine(true, false))).not.toThrow()
  expect(() => need(context, part, machine(true, true))).not.toThrow()
})

test.each(PARTS)('a test that needs %s is skipped with a reason where the part is missing', (part) => {
  expect(() => need(context, part, machine(false, false))).toThrow(Skipped)
  expect(() => need(context, part, machine(false, false))).toThrow(/ /)
})

test.each(PARTS)('a missing %s is an error with a remedy where every part is required', (part) => {
  expect(() => need(context, part, machine(false, true))).not.toThrow(Skipped)
  expect(() => need(context, part, machine(false, true))).toThrow(/; LOOPCHART_REQUIRE_ALL is 1; \S+ /)
})

test('a missing build is named together with the command that makes it', () => {
  expect(() => need(context, 'build', machine(false, true))).toThrow('npm run build')
})

test('LOOPCHART_REQUIRE_ALL makes a part that this machine lacks an error and nothing else does', () => {
  vi.stubEnv('PATH', '')
  try {
    vi.stubEnv('LOOPCHART_REQUIRE_ALL', '0')
    expect(() => need(context, 'chromium')).toThrow(Skipped)
    vi.stubEnv('LOOPCHART_REQUIRE_ALL', '1')
    expect(() => need(context, 'chromium')).toThrow('apt-get install chromium')
  } finally {
    vi.unstubAllEnvs()
  }
})

test('a skipped part reaches the skip of the running test', (running) => {
  const skip = vi.spyOn(running, 'skip').mockImplementation(() => {
    throw new Skipped('the context was asked')
  })
  expect(() => need(running, 'root', machine(false, false))).toThrow('the context was asked')
  expect(skip).toHaveBeenCalledWith('the tests do not run as root')
})
