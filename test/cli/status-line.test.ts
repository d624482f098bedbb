import { expect, onTestFinished, test, vi } from 'vitest'

import { StatusLine } from '../../src/cli/status-line.ts'
import { terminalOn } from '../../src/cli/terminal.ts'

const GIVEN_BACK = '\u001b7\u001b[r\u001b[24;1H\u001b[2K\u001b8'

test('the shell has the whole terminal while the process is stopped, and the row is kept again when it goes on', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  const rows = Object.getOwnPropertyDescriptor(process.stderr, 'rows')
  Object.defineProperty(process.stderr, 'rows', { value: 24, configurable: true })
  onTestFinished(() => {
    write.mockRestore()
    kill.mockRestore()
    if (rows === undefined) Reflect.deleteProperty(process.stderr, 'rows')
    else Object.defineProperty(process.stderr, 'rows', rows)
  })
  const line = new StatusLine(terminalOn(process.stderr, { NO_COLOR: '1' }), () => null)
  process.emit('SIGTSTP')
  expect(write.mock.calls.at(-1)).toEqual([GIVEN_BACK])
  expect(kill.mock.calls).toEqual([[process.pid, 'SIGSTOP']])
  process.emit('SIGCONT')
  expect(String(write.mock.calls.at(-1)?.[0])).toContain('\u001b[1;23r')
  line.close()
  expect(write.mock.calls.at(-1)).toEqual([GIVEN_BACK])
  expect(process.listenerCount('SIGTSTP') + process.listenerCount('SIGCONT')).toBe(0)
})
