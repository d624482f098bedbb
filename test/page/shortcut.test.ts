import { expect, test } from 'vitest'

import { shortcutOf, SHORTCUTS } from '../../src/inspect/page/shortcut.ts'

test('no key means two things', () => {
  const keys = SHORTCUTS.flatMap((shortcut) => shortcut.keys)
  expect(new Set(keys).size).toBe(keys.length)
})

test('every action is in the help once', () => {
  const actions = SHORTCUTS.map(({ action }) => action)
  expect(new Set(actions).size).toBe(actions.length)
})

test('a key does what the help says', () => {
  for (const { action, keys } of SHORTCUTS) {
    for (const key of keys) expect(shortcutOf({ key, hasModifier: false, isTaken: false })).toBe(action)
  }
})

test('a key that is typed, or held with another, is not for the page', () => {
  expect(shortcutOf({ key: 'd', hasModifier: false, isTaken: true })).toBeNull()
  expect(shortcutOf({ key: 'd', hasModifier: true, isTaken: false })).toBeNull()
  expect(shortcutOf({ key: 'q', hasModifier: false, isTaken: false })).toBeNull()
})
