import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { cli, framesIn, makeFolder, saying, startCli } from '../cli/run-cli.ts'
import { CALL, logOf, onlyRun, place, runsIn, serve, STALLED, writeAgent } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const ASKS = "{ needsApproval: true, execute: () => 'launched' }"
// Dies the first time, as a machine does that loses its power.
const DIES =
  "{ execute: () => hasDone('launch') ? 'launched' : (did('launch'), process.kill(process.pid, 'SIGKILL'), new Promise(() => {})) }"

test('run --store keeps a run in a file that only its owner may read, and says its id', async () => {
  const where = place(await serve(CALL, saying('Gone.')))
  const { code, out, err } = await cli(['run', 'go', ...where.flags])
  expect([code, out]).toEqual([0, 'Gone.\n'])
  const runId = onlyRun(where)
  expect(err).toMatch(new RegExp(`^run ${runId}$`, 'mu'))
  expect(err).not.toContain('resume')
  expect(runsIn(where)).toMatchObject([{ state: 'done', status: 'ended', turn: 2, model: 'm', owner: null }])
  expect(statSync(where.store).mode & 0o777).toBe(0o600)
})

test('what run --store --json prints is what it keeps', async () => {
  const where = place(await serve(CALL, saying('Gone.')))
  const { out, err } = await cli(['run', 'go', ...where.flags, '--json'])
  expect(err).toBe('')
  expect(framesIn(out)).toEqual(logOf(where, onlyRun(where)))
})

test.for([
  ['--store without a file', ['--store'], {}, 'loopchart/runs.db'],
  ['LOOPCHART_STORE', [], { LOOPCHART_STORE: 'named.db' }, 'named.db'],
] as const)('%s says where a run is kept, and runs finds it there', async ([, flags, env, file]) => {
  const folder = makeFolder()
  const options = { cwd: makeFolder(), env: { XDG_STATE_HOME: folder, ...env } }
  const ran = await cli(['run', 'go', '--provider', 'scripted', ...flags], options)
  const there = [folder, options.cwd].some((where) => existsSync(join(where, file)))
  expect([ran.code, there]).toEqual([0, true])
  const { out } = await cli(['runs', '--json'], options)
  expect(JSON.parse(out)).toMatchObject([{ state: 'done', model: 'scripted-1' }])
})

test('without --store nothing is kept', async () => {
  const folder = makeFolder()
  const options = { cwd: makeFolder(), env: { XDG_STATE_HOME: folder } }
  await cli(['run', 'go', '--provider', 'scripted'], options)
  const { code, out, err } = await cli(['runs'], options)
  expect([code, out]).toEqual([0, ''])
  expect(err).toMatch(/^no runs are kept in .*runs\.db\n$/u)
})

test.for([
  ['below a file', (folder: string) => join(folder, 'agent.ts', 'runs.db')],
  ['that is a folder', (folder: string) => (mkdirSync(join(folder, 'sub')), join(folder, 'sub'))],
] as const)('K13: a store %s is one line with a code before anything is sent', async ([, pathIn]) => {
  const provider = await serve(saying('Hello.'))
  const where = place(provider)
  const { code, out, err } = await cli(['run', 'go', ...where.flags, '--store', pathIn(where.folder)])
  expect([code, out, provider.requests.length]).toEqual([2, '', 0])
  expect(err).toMatch(/^loopchart: .*\[(?:store_unusable|log_version)\]\n$/u)
})

test('K01: a run that was killed in the middle of a response is resumed to its end, and no finished call runs again', async () => {
  const tool = "{ execute: () => (did('launch'), 'launched') }"
  const where = place(await serve(CALL, STALLED, saying('Gone.')), tool)
  const running = startCli(['run', 'go', ...where.flags])
  await running.until('out', /Wait/u)
  running.child.kill('SIGKILL')
  await running.done
  const { code, out, err } = await cli(['resume', onlyRun(where), ...where.flags])
  expect([code, out]).toEqual([0, 'Gone.\n'])
  expect(err).toContain('resumed in turn 2')
  expect(err).toMatch(/^done \(completed\): 2 turns, 1 call, /mu)
  expect(readFileSync(join(where.folder, 'effects.txt'), 'utf8')).toBe('launch\n')
})

test('resume --json prints the whole log, from before it was resumed on', async () => {
  const where = place(await serve(STALLED, saying('Gone.')))
  const running = startCli(['run', 'go', ...where.flags, '--json'])
  await running.until('out', /responding\.streaming/u)
  running.child.kill('SIGKILL')
  const before = await running.done
  const { code, out, err } = await cli(['resume', onlyRun(where), ...where.flags, '--json'])
  expect([code, err]).toEqual([0, ''])
  expect(framesIn(out)).toEqual(logOf(where, onlyRun(where)))
  expect(out.startsWith(before.out.slice(0, before.out.lastIndexOf('\n')))).toBe(true)
})

test('K11: SIGTERM suspends a run that is kept, says how to go on, and that command does', async () => {
  const where = place(await serve(STALLED, saying('Gone.')))
  const running = startCli(['run', 'go', ...where.flags])
  await running.until('out', /Wait/u)
  running.child.kill('SIGTERM')
  const { code, err } = await running.done
  expect(code).toBe(6)
  expect(logOf(where, onlyRun(where)).at(-1)?.type).not.toBe('run_ended')
  const [, command = ''] = /^loopchart: the run is suspended; go on with: loopchart (.*)$/mu.exec(err) ?? []
  expect(command).toContain(`resume ${onlyRun(where)} --store ${where.store} --agent `)
  const resumed = await cli(command.split(' '))
  expect([resumed.code, resumed.out]).toEqual([0, 'Gone.\n'])
})

test('a run that is kept is let go of when nobody reads its output any more, and says how to go on', async () => {
  const tool = `{ execute: () => new Promise((resolve) => {
    process.once('SIGUSR2', () => resolve('launched'))
    process.stderr.write('it runs')
  }) }`
  const where = place(await serve(CALL, STALLED), tool)
  const running = startCli(['run', 'go', '--json', ...where.flags])
  await running.until('err', /it runs/u)
  await new Promise<void>((resolve) => running.child.stdout?.once('close', resolve).destroy())
  running.child.kill('SIGUSR2')
  const { code, err } = await running.done
  expect(code).toBe(6)
  expect(err).toContain('the run is suspended; go on with: ')
  expect(logOf(where, onlyRun(where)).at(-1)?.type).not.toBe('run_ended')
})

test('a call that runs when SIGTERM comes is let come to its end, so that nobody has to say how it ended', async () => {
  const tool = `{ execute: () => new Promise((resolve) => {
    process.once('SIGTERM', () => setImmediate(() => resolve('launched')))
    process.stderr.write('it runs')
  }) }`
  const where = place(await serve(CALL, saying('Gone.')), tool)
  const running = startCli(['run', 'go', ...where.flags])
  await running.until('err', /it runs/u)
  running.child.kill('SIGTERM')
  const { code } = await running.done
  const frames = logOf(where, onlyRun(where))
  const resumed = await cli(['resume', onlyRun(where), ...where.flags])
  expect(frames.filter(({ type }) => type === 'tool_ended')).toMatchObject([{ outcome: 'ok' }])
  expect([code, resumed.code, resumed.out]).toEqual([6, 0, 'Gone.\n'])
})

test('K11: a call that goes on after SIGTERM does not hold the process: it is in doubt', async () => {
  const tool = "{ execute: () => (process.stderr.write('it runs'), new Promise(() => {})) }"
  const where = place(await serve(CALL, saying('Gone.')), tool)
  const running = startCli(['run', 'go', ...where.flags])
  await running.until('err', /it runs/u)
  const began = performance.now()
  running.child.kill('SIGTERM')
  const { code, err } = await running.done
  expect(code).toBe(6)
  expect(performance.now() - began).toBeLessThan(10_000)
  expect(err).toContain('the run is suspended; go on with: ')
  expect((await cli(['resume', onlyRun(where), ...where.flags])).err).toContain('--reconcile call_7=done')
})

test('SIGINT cancels a run also when it is kept', async () => {
  const where = place(await serve(STALLED))
  const running = startCli(['run', 'go', ...where.flags])
  await running.until('out', /Wait/u)
  running.child.kill('SIGINT')
  expect((await running.done).code).toBe(130)
  expect(runsIn(where)).toMatchObject([{ state: 'cancelled', status: 'ended' }])
})

test('a second SIGINT ends the process at once, and says how to go on with a run that is kept', async () => {
  const tool = "{ execute: () => (process.stderr.write('it runs'), new Promise(() => {})) }"
  const where = place(await serve(CALL), tool)
  const running = startCli(['run', 'go', '--json', ...where.flags])
  await running.until('err', /it runs/u)
  running.child.kill('SIGINT')
  await running.until('out', /"state":"stopping"/u)
  running.child.kill('SIGINT')
  const { code, err } = await running.done
  expect(code).toBe(130)
  expect(err).toMatch(/^.*loopchart: the run was left as it was; go on with: loopchart resume /mu)
})

test('K08: a run that another process drives is refused with who drives it', async () => {
  const where = place(await serve(STALLED))
  const running = startCli(['run', 'go', ...where.flags])
  await running.until('out', /Wait/u)
  const { code, out, err } = await cli(['resume', onlyRun(where), ...where.flags])
  const listed = await cli(['runs', '--store', where.store])
  expect([code, out]).toEqual([6, ''])
  expect(err).toMatch(
    new RegExp(
      `^loopchart: run \\S+ is driven by process ${running.child.pid} on \\S+ since 2.*\\[run_locked\\]\n$`,
      'u',
    ),
  )
  expect(listed.out).toContain(`process ${running.child.pid} on `)
})

test.for([
  ['--approve-call', 'ok'],
  ['--deny-call', 'denied'],
] as const)(
  'an approval that nobody can give suspends a run with exit code 5; %s goes on',
  async ([flag, outcome]) => {
    const where = place(await serve(CALL, saying('Gone.')), ASKS)
    const asked = await cli(['run', 'go', ...where.flags])
    const runId = onlyRun(where)
    expect(asked.code).toBe(5)
    expect(asked.err).toMatch(
      /^loopchart: call call_7 of launch needs approval .*; go on with: loopchart resume .* --approve-call call_7 \(or --deny-call call_7\)$/mu,
    )
    expect(runsIn(where)).toMatchObject([{ state: 'working.executing.awaitingApproval', status: 'open' }])
    const again = await cli(['resume', runId, ...where.flags])
    expect(again.code).toBe(5)
    expect(again.err).toContain('needs approval: launch {"where":"moon"}')
    const { code, out } = await cli(['resume', runId, ...where.flags, flag, 'call_7'])
    expect([code, out]).toEqual([0, 'Gone.\n'])
    expect(logOf(where, runId).filter(({ type }) => /^tool_(?:ended|failed)$/u.test(type))).toMatchObject([
      { outcome },
    ])
  },
)

test('K01: a call that was cut off while it ran is not run again before somebody has said what became of it', async () => {
  const where = place(await serve(CALL, saying('Gone.')), DIES)
  await cli(['run', 'go', ...where.flags])
  const runId = onlyRun(where)
  const told = await cli(['resume', runId, ...where.flags])
  expect(told.code).toBe(6)
  expect(told.err).toMatch(
    /^loopchart: nobody knows how call call_7 of launch ended, .* go on with: loopchart resume .* --reconcile call_7=done:OUTPUT \(or =failed:WHY, or =rerun\)$/mu,
  )
  const { code, out } = await cli([
    'resume',
    runId,
    ...where.flags,
    '--reconcile',
    'call_7=done:it=done: flew',
  ])
  expect([code, out]).toEqual([0, 'Gone.\n'])
  expect(readFileSync(join(where.folder, 'effects.txt'), 'utf8')).toBe('launch\n')
  const commands = logOf(where, runId).filter(({ type }) => type === 'command_received')
  expect(commands).toMatchObject([
    { command: { type: 'call.reconcile', callId: 'call_7', as: 'done', output: 'it=done: flew' } },
  ])
})

test('a call in doubt is run again when somebody says so', async () => {
  const where = place(await serve(CALL, saying('Gone.')), DIES)
  await cli(['run', 'go', ...where.flags])
  const { code, out } = await cli([
    'resume',
    onlyRun(where),
    ...where.flags,
    '--reconcile',
    'call_7=rerun',
    '--json',
  ])
  expect(code).toBe(0)
  expect(framesIn(out).filter(({ type }) => type === 'tool_ended')).toMatchObject([
    { call_id: 'call_7', outcome: 'ok' },
  ])
})

test('a provider that asks for a long wait suspends a run that is kept, and says when and how to go on', async () => {
  const later = { fault: { type: 'status', status: 429, headers: { 'retry-after': '3600' } } } as const
  const where = place(await serve(later))
  const { code, err } = await cli(['run', 'go', ...where.flags])
  expect(code).toBe(6)
  expect(err).toMatch(
    /after \d{4}-.*Z go on with: loopchart resume \S+ --store \S+ --agent \S+ \[retry_later\]$/mu,
  )
})

test('resume says what has changed since the run was begun, and goes on', async () => {
  const provider = await serve(STALLED, saying('Gone.'))
  const where = place(provider)
  const running = startCli(['run', 'go', ...where.flags])
  await running.until('out', /Wait/u)
  running.child.kill('SIGTERM')
  await running.done
  writeAgent(where.folder, 'agent.ts', provider, "{ execute: () => 'launched' }", "instructions: 'Be long.'")
  const { code, err } = await cli(['resume', onlyRun(where), ...where.flags])
  expect(code).toBe(0)
  expect(err).toMatch(/^loopchart: the agent's instructions changed since the run was begun$/mu)
})
