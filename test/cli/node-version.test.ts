import { expect, test } from 'vitest'

import { nodeFault } from '../../src/cli/node-version.ts'

test.for(['20.20.2', '22.12.9', '21.99.0', '9.0.0'])('Node %s is said to be too old', (version) => {
  expect(nodeFault(version, '>=22.13')).toMatch(
    new RegExp(`^this is Node ${version}, and 22\\.13 or newer is needed`, 'u'),
  )
})

test.for(['22.13.0', '22.13.1', '22.20.0', '23.0.0', '100.1.0'])('Node %s is new enough', (version) => {
  expect(nodeFault(version, '>=22.13')).toBeNull()
})
