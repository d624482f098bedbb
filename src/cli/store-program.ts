import type { Command } from 'commander'

import {
  addDriveOptions,
  addProviderOptions,
  addToolOptions,
  collect,
  type Finish,
} from './common-options.ts'
import type { ExplainFlags } from './explain-verb.ts'
import type { ForkFlags } from './fork-verb.ts'
import type { PruneFlags } from './prune-verb.ts'
import type { ReplayFlags } from './replay-verb.ts'
import type { ResumeFlags } from './resume-verb.ts'
import type { RunsFlags } from './runs-verb.ts'
import type { StoreFlags } from './store-option.ts'

/** Adds the verbs about runs that are kept. */
export function addStoreVerbs(program: Command, finish: Finish): void {
  addResume(program, finish)
  addFork(program, finish)
  addRuns(program, finish)
  addReplay(program, finish)
}

const STORE = 'the file that runs are kept in; LOOPCHART_STORE, or a file of your own, without it'
const RUN = 'its id, or a beginning of it that no other has'
const LOG = 'a file of JSON lines, - for standard input, or a stored run'

function addResume(program: Command, finish: Finish): void {
  const verb = program
    .command('resume')
    .summary('go on with a run that has not ended')
    .description(
      'Goes on with a stored run where it is. What has come to its end is not done again; a call that was cut off\n' +
        'while it ran is run again only if that is harmless, or if --reconcile says so.',
    )
    .argument('<run>', RUN)
    .option('--store <file>', STORE)
    .option(
      '--reconcile <call=way>',
      'what became of a call: CALL=done:OUTPUT, CALL=failed:WHY, CALL=rerun; may be repeated',
      collect,
    )
    .option(
      '--approve-call <call>',
      'let a call run that waits for approval, CALL/CALL for one of a subagent; may be repeated',
      collect,
    )
    .option('--deny-call <call>', 'refuse a call that waits for approval; may be repeated', collect)
    .option('--no-stream', 'ask for whole responses instead of streams')
  addProviderOptions(verb)
  addToolOptions(verb)
  addDriveOptions(verb)
  verb.action(async (run: string, flags: ResumeFlags) => {
    const { resumeVerb } = await import('./resume-verb.ts')
    finish(await resumeVerb(run, flags))
  })
}

function addFork(program: Command, finish: Finish): void {
  const verb = program
    .command('fork')
    .summary('begin a new run as an old one up to a decision')
    .description(
      'Begins a new run as a stored one up to a decision, with that decision made anew or changed, and drives it.\n' +
        'The old run stays as it is. loopchart explain RUN lists the decisions of a run.',
    )
    .argument('<run>', RUN)
    .option('--at <frame>', 'the number of the decision')
    .option(
      '--change <change>',
      'output:TEXT or failed:TEXT for the end of a call, approve or deny:REASON for an approval; --model for a response',
    )
    .option('--keep-history', 'at a compaction: go on without it')
    .option('--store <file>', STORE)
    .option('--no-stream', 'ask for whole responses instead of streams')
  addProviderOptions(verb)
  addToolOptions(verb)
  addDriveOptions(verb)
  verb.action(async (run: string, flags: ForkFlags) => {
    const { forkVerb } = await import('./fork-verb.ts')
    finish(await forkVerb(run, flags))
  })
}

function addRuns(program: Command, finish: Finish): void {
  const runs = program
    .command('runs')
    .summary('list stored runs, check, prune, export and import them')
    .description('Lists the runs of a store, the latest first.')
    // An option behind the name of a verb is that verb's, also one that both have.
    .enablePositionalOptions()
    .option('--store <file>', STORE)
    .option('--json', 'print it as JSON')
    .option('--check', 'say of each run that has not ended whether it could go on with this release')
    .option('--agent <file[#name]>', 'with --check: and with the agent that a module of yours exports')
    .addHelpText('after', '\nExit codes: 0, with --check 1 when a run could not go on, 2 wrong usage.\n')
    .action(async (flags: RunsFlags) => {
      const { listRuns } = await import('./runs-verb.ts')
      finish(await listRuns(flags))
    })
  runs
    .command('prune')
    .summary('remove old runs')
    .description(
      'Removes runs of which the last frame is old, and prints their ids. One that is driven stays.',
    )
    .option('--older-than <age>', 'such as 30d, 12h or 8w')
    .option('--keep-failed', 'leave runs that ended as failed')
    .option('--store <file>', STORE)
    .option('--json', 'print it as JSON')
    .action(async (_: object, command: Command) => {
      const { pruneRuns } = await import('./prune-verb.ts')
      finish(await pruneRuns(command.optsWithGlobals<PruneFlags>()))
    })
  runs
    .command('export')
    .summary('print the log of a run')
    .description('Prints the log of a run as JSON lines, as run --json does.')
    .argument('<run>', RUN)
    .option('--store <file>', STORE)
    .action(async (run: string, _: object, command: Command) => {
      const { exportRun } = await import('./transfer-verbs.ts')
      finish(await exportRun(run, command.optsWithGlobals<StoreFlags>()))
    })
  runs
    .command('import')
    .summary('take a log into the store')
    .description(
      'Takes a log of JSON lines into the store, whole or not at all, and prints the id of its run.',
    )
    .argument('<file>', 'the log; - for standard input')
    .option('--store <file>', STORE)
    .action(async (file: string, _: object, command: Command) => {
      const { importRun } = await import('./transfer-verbs.ts')
      finish(await importRun(file, command.optsWithGlobals<StoreFlags>()))
    })
}

function addReplay(program: Command, finish: Finish): void {
  program
    .command('replay')
    .summary('drive a log again, without network, and compare')
    .description(
      'Drives a run again from what its log says was decided and received, without network and without running a tool,\n' +
        'and compares states, requests and everything else. Exit code 1 when something does not follow; it is shown.',
    )
    .argument('<log>', LOG)
    .option('--store <file>', STORE)
    .option('--json', 'print it as JSON')
    .action(async (log: string, flags: ReplayFlags) => {
      const { replayVerb } = await import('./replay-verb.ts')
      finish(await replayVerb(log, flags))
    })
  program
    .command('diff')
    .summary('show where two runs part')
    .description('Shows the first transition in which two runs differ. Exit code 1 when there is one.')
    .argument('<a>', LOG)
    .argument('<b>', LOG)
    .option('--store <file>', STORE)
    .option('--json', 'print it as JSON')
    .action(async (a: string, b: string, flags: ReplayFlags) => {
      const { diffVerb } = await import('./diff-verb.ts')
      finish(await diffVerb(a, b, flags))
    })
  program
    .command('explain')
    .summary('say why a run is where it is, and what it waits for')
    .description('Says why a run is where it is, what it waits for, and which decisions brought it there.')
    .argument('<log>', LOG)
    .option('--store <file>', STORE)
    .option('--json', 'print it as JSON')
    .action(async (log: string, flags: ExplainFlags) => {
      const { explainVerb } = await import('./explain-verb.ts')
      finish(await explainVerb(log, flags))
    })
}
