import { Command } from 'commander'

import {
  addConversationOptions,
  addDriveOptions,
  addProviderOptions,
  addRequestOptions,
  addToolOptions,
  collect,
  type Finish,
} from './common-options.ts'
import { CommandLineError } from './command-line-error.ts'
import { addConversationVerbs } from './conversation-program.ts'
import type { DoctorFlags } from './doctor-verb.ts'
import type { MockFlags } from './mock-verb.ts'
import type { RunFlags } from './run-flags.ts'
import { addServeVerbs } from './serve-program.ts'
import type { SettingFlags } from './settings.ts'
import { addStoreVerbs } from './store-program.ts'
import type { TrustFlags } from './trust-verb.ts'

/** The command line. What a verb needs is loaded when it is called: help and version need none of it. */
export function createProgram(version: string, command: string, finish: Finish): Command {
  const program = new Command('loopchart')
    .description('The Open Responses agent loop as a statechart.')
    .version(version)
    .helpCommand(false)
  addRun(program, finish)
  addConversationVerbs(program, finish)
  addDemo(program, command, finish)
  addSmallVerbs(program, finish)
  addDoctor(program, finish)
  addDecode(program, finish)
  addStoreVerbs(program, finish)
  addServeVerbs(program, finish)
  addTrust(program, finish)
  const verbs = program.commands.flatMap((verb) => [verb, ...verb.commands])
  for (const each of [program, ...verbs]) {
    each
      .exitOverride((error) => {
        throw new CommandLineError(error, pathOf(each))
      })
      .configureOutput({ outputError: () => undefined })
  }
  return program
}

/** The names that lead to a verb, such as `loopchart runs prune`. */
function pathOf(verb: Command): string {
  return verb.parent === null ? verb.name() : `${pathOf(verb.parent)} ${verb.name()}`
}

function addRun(program: Command, finish: Finish): void {
  const verb = program
    .command('run')
    .summary('run an agent on a prompt')
    .description('Runs one loop: sends the prompt, runs the tools that the model calls, shows everything.')
    .argument('[prompt]', 'what to ask; standard input when it is left out or -')
  addProviderOptions(verb)
  addRequestOptions(verb)
  verb
    .option('--attach <file>', 'a file to send with the prompt, up to 10 MiB; may be repeated', collect)
    .option('--store [file]', 'keep the run, so that it can be resumed; without a file, in one of your own')
    .option(
      '--conversation <id>',
      'send the prompt as a message of a conversation, which is kept; new or not',
    )
  addConversationOptions(verb)
  addToolOptions(verb)
  addDriveOptions(verb)
  verb.action(async (prompt: string | undefined, flags: RunFlags) => {
    const { runVerb } = await import('./run-verb.ts')
    finish(await runVerb(prompt, flags))
  })
}

function addDemo(program: Command, command: string, finish: Finish): void {
  program
    .command('demo')
    .summary('show a run of three turns; needs no key and no network')
    .description(
      'Runs a task of three turns on a temporary workspace, against a scripted provider over HTTP.',
    )
    .action(async () => {
      const { demo } = await import('./demo-verb.ts')
      finish(await demo(command))
    })
}

function addSmallVerbs(program: Command, finish: Finish): void {
  program
    .command('mock')
    .summary('serve a scripted provider')
    .description(
      'Serves a scripted provider on this machine, prints its base URL and a line for each request.',
    )
    .option('--script <file>', 'what it says; the script of the demo without it')
    .option('--port <number>', 'any free one without it')
    .action(async (flags: MockFlags) => {
      const { mock } = await import('./mock-verb.ts')
      finish(await mock(flags))
    })
  program
    .command('diagram')
    .summary('print the chart')
    .description('Prints the chart of the loop, drawn from the machine that runs.')
    .option('--format <format>', 'svg, mermaid, scxml, json or ascii', 'mermaid')
    .action(async ({ format }: { format: string }) => {
      const { diagram } = await import('./diagram-verb.ts')
      process.stdout.write(diagram(format))
    })
  const models = program
    .command('models')
    .summary('list the models of a provider')
    .description('Lists what the provider offers.')
  addProviderOptions(models)
  models.option('--json', 'print them as JSON').action(async (flags: SettingFlags & { json?: true }) => {
    const { models: list } = await import('./models-verb.ts')
    process.stdout.write(await list(flags))
  })
}

function addDoctor(program: Command, finish: Finish): void {
  const verb = program
    .command('doctor')
    .summary('show the configuration, and how a provider departs from the specification')
    .description(
      'Shows what is set and by what. With --base-url and --model it also sends a few short requests\n' +
        'and tells how the provider departs from the Open Responses specification.',
    )
  addProviderOptions(verb)
  verb
    .option('--workspace <folder>', 'the workspace to look at; the current folder without it')
    .option('--json', 'print it as JSON')
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import('./doctor-verb.ts')
      finish(await doctor(flags))
    })
}

function addTrust(program: Command, finish: Finish): void {
  program
    .command('trust')
    .summary('trust a folder, so that a model may write and run things there')
    .description(
      'Shows a folder with the config that it brings along, and records that you trust both. Without it, the model\n' +
        'gets only tools that read. A config that changes later is not used before you have trusted it anew.',
    )
    .argument('[folder]', 'the current one without it')
    .option('--list', 'list the folders that are trusted')
    .option('--remove', 'trust the folder no more')
    .action(async (folder: string | undefined, flags: TrustFlags) => {
      const { trustVerb } = await import('./trust-verb.ts')
      finish(await trustVerb(folder, flags))
    })
}

function addDecode(program: Command, finish: Finish): void {
  program
    .command('decode')
    .summary('show what a recorded provider response holds')
    .description(
      'Decodes a recorded provider response, an SSE stream or a JSON body, and shows its frames and calls.',
    )
    .argument('[file]', 'the recording; standard input when it is left out or -')
    .option('--json', 'print every frame as one line of JSON')
    .option('--strict', 'validate against the specification instead of what providers are known to send')
    .action(async (file: string | undefined, options: { json?: true; strict?: true }) => {
      const { decode } = await import('./decode.ts')
      const [isJson, isStrict] = [options.json === true, options.strict === true]
      finish(await decode({ file: file ?? '-', isJson, isStrict, output: process.stdout }))
    })
}
