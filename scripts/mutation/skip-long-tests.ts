import { beforeEach } from 'vitest'

/** Beginnings of titles: tests left out for their time alone. What only they would kill counts as survived. */
const LONG = [
  // Model: what the coverage itself does, and the two scenarios that take longest.
  'a guarded transition that nothing reaches is named',
  'a state that nothing leads to is named by the ways out of it',
  'both hosts take the same transitions equally often',
  'on the driver every step of "a crash while a call waits for its yes"',
  'on the driver every step of "batches that are cut off"',
  'the log of every path of "a crash while a call waits for its yes"',
  'the log of every path of "batches that are cut off"',
  'the paths take every transition on a real actor',
  // Generated inputs by the thousand.
  'any list of items gives a valid request, in both modes',
  'fault P10: a stream cut in two at any byte',
  'frames are identical for any chunking of any stream',
  'generated streams give back exactly the data texts that were sent',
  'in a whole conversation every call has one output after it',
  'whatever a template reads, JSON.parse reads the same',
  // Megabytes.
  'a file_data of 33554432 characters',
  'a image_url of 20971520 characters',
  'fault P13: 100 MB of arguments',
  'fault P13: a million tiny deltas',
  'fault P33: a million levels of nesting',
  'pairing with a terminal response of other ids is not quadratic',
]

beforeEach(({ task, skip }) => {
  skip(
    LONG.some((title) => task.name.startsWith(title)),
    'takes long',
  )
})
