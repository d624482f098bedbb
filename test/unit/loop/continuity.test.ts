import { expect, test } from 'vitest'

import { resolveContinuity, type ContinuityOptions } from '../../../src/loop/continuity.ts'

const plain: ContinuityOptions = {
  continuity: 'previous_response_id',
  store: null,
  encryptedReasoning: false,
  canContinueById: null,
}

const byId = { mode: 'previous_response_id', maySwitchMode: false }
const byIdAtFirst = { mode: 'previous_response_id', maySwitchMode: true }
const stateless = { mode: 'stateless', maySwitchMode: false }

test.each<readonly [Partial<ContinuityOptions>, object]>([
  [{}, byId],
  [{ store: true }, byId],
  [{ canContinueById: false }, byId],
  [{ continuity: null }, byId],
  [{ continuity: null, canContinueById: true }, byId],
  [{ continuity: null, canContinueById: false }, stateless],
  [{ continuity: 'stateless' }, stateless],
  [{ continuity: 'stateless', store: true, canContinueById: true }, stateless],
  [{ continuity: 'auto' }, byIdAtFirst],
  [{ continuity: 'auto', canContinueById: true }, byIdAtFirst],
  [{ continuity: 'auto', canContinueById: false }, stateless],
  [{ continuity: 'auto', canContinueById: false, store: true }, stateless],
])('K2: %j resolves to %j', (options, resolved) => {
  expect(resolveContinuity({ ...plain, ...options })).toEqual(resolved)
})

test.each<readonly [Partial<ContinuityOptions>, object]>([
  [{ store: false }, stateless],
  [{ encryptedReasoning: true }, stateless],
  [{ encryptedReasoning: true, store: true }, byId],
  [{ encryptedReasoning: true, store: false }, stateless],
  [{ continuity: 'auto', store: false, canContinueById: true }, stateless],
  [{ continuity: 'auto', encryptedReasoning: true, canContinueById: true }, stateless],
  [{ continuity: 'auto', encryptedReasoning: true, store: true }, byIdAtFirst],
])('K3: where nothing is stored, nothing is continued by id: %j resolves to %j', (options, resolved) => {
  expect(resolveContinuity({ ...plain, ...options })).toEqual(resolved)
})
