import { expect, test } from 'vitest'

import { GroupCommit, type Appender } from '../../../src/journal/group-commit.ts'
import { StoreFile } from '../../../src/journal/store-file.ts'
import { tempFolder } from '../../journal/store-kit.ts'

function appender(): Appender & { asked: number } {
  return {
    isAwaited: false,
    asked: 0,
    collect() {
      this.asked += 1
      return null
    },
    written: () => undefined,
    refused: () => undefined,
    failed: () => undefined,
  }
}

function openGroup(): GroupCommit {
  return new GroupCommit(new StoreFile(`${tempFolder()}/runs.db`, (_, execute) => execute()))
}

test('a log that asks more than once before a turn is asked for what it has once', () => {
  const group = openGroup()
  const log = appender()
  const member = group.join(log)
  group.ask(member)
  group.ask(member)
  group.flush()
  expect(log.asked).toBe(1)
  group.ask(member)
  group.flush()
  expect(log.asked).toBe(2)
  group.close()
})

test('a log that has left is asked for nothing, and its place refers to it no more', () => {
  const group = openGroup()
  const [one, other] = [appender(), appender()]
  const [left, stays] = [group.join(one), group.join(other)]
  group.ask(left)
  group.ask(stays)
  group.leave(left)
  group.flush()
  expect([one.asked, other.asked]).toEqual([0, 1])
  expect([left.appender, stays.appender]).toEqual([null, other])
  group.close()
})
