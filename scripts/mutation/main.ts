// npm run mutation              mutates machines/, src/stream and src/loop; exit 1 where a score is below 70 %
// npm run mutation -- stream    only one of them, by the last part of its name
// npm run mutation -- stream --mutate src/stream/sequence-check.ts    options go to `stryker run`
//
// Stryker has packages of its own, here and not in the root: few people need them. It finds vitest in the root.

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { installPackages } from '../install-packages.ts'
import { ROOMS, type Room } from './rooms.ts'
import { scoreLine } from './score-line.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../../', import.meta.url))

process.exitCode = main(process.argv.slice(2))

function main(args: readonly string[]): number {
  const [name, options] = args[0]?.startsWith('-') === false ? [args[0], args.slice(1)] : [undefined, args]
  const rooms = ROOMS.filter((room) => name === undefined || room.name === name)
  if (rooms.length === 0) {
    process.stderr.write(`mutation: ${name} is none of ${ROOMS.map((room) => room.name).join(', ')}\n`)
    return 2
  }
  if (!installPackages(folder)) return 2
  const codes = rooms.map((room) => mutate(room, options))
  for (const room of rooms) process.stdout.write(`${room.name}: ${scoreLine(reportOf(room))}\n`)
  return Math.max(...codes)
}

function mutate(room: Room, options: readonly string[]): number {
  // A run that comes to no end must not leave the score of another.
  rmSync(reportOf(room), { force: true })
  const stryker = `${folder}node_modules/@stryker-mutator/core/bin/stryker.js`
  const args = [stryker, 'run', 'scripts/mutation/stryker.config.ts', ...options]
  return run(process.execPath, args, { MUTATION_ROOM: room.name })
}

function reportOf(room: Room): string {
  return `${root}reports/mutation/${room.name}.json`
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): number {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  if (error !== undefined) process.stderr.write(`mutation: ${error.message}\n`)
  return status ?? 1
}
