import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import type { Figure } from './decode.ts'

/** What came and what it cost. */
export interface ShellOutput {
  readonly stdout: { readonly bytes_total: number; readonly truncated: boolean }
  /** The peak of the process over what it had before. */
  readonly riseMiB: number
}

/** Runs a command of much output through the shell tool, in a process of its own. */
export function measureShellOutput(command: string): ShellOutput {
  const child = fileURLToPath(new URL('shell-output-child.ts', import.meta.url))
  const printed = execFileSync(process.execPath, ['--expose-gc', child, command], { encoding: 'utf8' })
  return JSON.parse(printed) as ShellOutput
}

const GIB = 1024 ** 3

/** What 1 GiB of stdout adds to a process: the worse of bytes without a newline and of short lines. */
export function shellOutputFigure(): Figure {
  const measured = ['head -c 1G /dev/zero', 'yes | head -c 1G'].map((command) => measureShellOutput(command))
  for (const { stdout } of measured) {
    if (stdout.bytes_total !== GIB) throw new Error(`not all came: ${stdout.bytes_total} bytes`)
  }
  return {
    id: 'shell_output_1gb_rss',
    value: Math.max(...measured.map(({ riseMiB }) => riseMiB)),
    unit: 'MiB',
    budget: 64,
    about: '1 GiB of stdout through the shell tool, the worse of zeros and of lines',
  }
}
