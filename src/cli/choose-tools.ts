import { resolve } from 'node:path'

import { LoopchartError } from '../errors.ts'
import { PROFILES } from '../provider/profiles.ts'
import { defaultStateFolder } from '../state-folder.ts'
import { builtinTools, type BuiltinOptions } from '../tools/builtin/builtin-tools.ts'
import type { PolicyRule } from '../tools/policy/policy.ts'
import { isWithin } from '../tools/process/find-program.ts'
import { findSandbox } from '../tools/process/find-sandbox.ts'
import type { Tool } from '../tools/tool.ts'
import type { Config } from './config-file.ts'
import type { RunFlags } from './run-flags.ts'
import type { Settings } from './settings.ts'
import type { WorkspaceConfig } from './workspace-config.ts'
import { workspaceTrust } from './workspace-trust.ts'

/** The tools of a run and what holds for them. */
export interface ChosenTools {
  readonly tools: readonly Tool[]
  /** The workspace is not trusted: only tools that read may be used. */
  readonly isUntrusted: boolean
  readonly policy: readonly PolicyRule[]
  /** What the workspace itself says. */
  readonly workspace: WorkspaceConfig
  /** What the user should know before anything runs. */
  readonly notes: readonly string[]
}

const NONE: ChosenTools = { tools: [], isUntrusted: false, policy: [], workspace: {}, notes: [] }

/** Makes the tools that flags and settings ask for. Throws `usage` for flags about tools that are not there. */
export async function chooseTools(flags: RunFlags, { config, sources }: Settings): Promise<ChosenTools> {
  const isOffered = flags.workspace !== undefined || flags.provider === 'scripted'
  const wanted = config.tools ?? (isOffered ? 'builtin' : 'none')
  if (wanted === 'none') {
    checkNothingForTools(flags, sources.get('tools') ?? null)
    return NONE
  }
  const workspace = flags.workspace ?? '.'
  const stateFolder = defaultStateFolder(process.env)
  const isTrustedForNow = flags.trust === true
  const trust = await workspaceTrust({ workspace, stateFolder, isTrustedForNow })
  if (isWithin(trust.root, resolve(stateFolder))) {
    throw new LoopchartError(
      'usage',
      `${stateFolder}, where loopchart keeps its own records, is inside of the workspace ${trust.root}; ` +
        'give --workspace a folder that does not hold it, or set XDG_STATE_HOME to another place',
    )
  }
  const tools = await makeTools({ workspace: trust.root, stateFolder, ...editing(flags, config) })
  return {
    tools,
    isUntrusted: !trust.isTrusted,
    policy: [...(config.policy ?? []), ...(trust.config.policy ?? [])].map(ruleOf),
    workspace: trust.config,
    notes: [...trust.notes, ...(trust.isTrusted ? await sandboxNotes(flags, config, trust.root) : [])],
  }
}

/** The flags that are about the built-in tools alone, with what was given for each. */
export function builtinFlags(flags: RunFlags): Readonly<Record<string, unknown>> {
  return {
    '--workspace': flags.workspace,
    '--trust': flags.trust,
    '--auto-edit': flags.autoEdit,
    '--no-sandbox': flags.sandbox === false ? true : undefined,
  }
}

function checkNothingForTools(flags: RunFlags, source: string | null): void {
  const given = { ...builtinFlags(flags), '--allow-unsandboxed': flags.allowUnsandboxed }
  const [first] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (first === undefined) return
  const why = source === null ? '' : `, says ${source}`
  throw new LoopchartError(
    'usage',
    `${first} has no effect without tools${why}; give --workspace DIR or --tools builtin, or leave it out`,
  )
}

function editing(flags: RunFlags, config: Config): Pick<BuiltinOptions, 'isAutoEdit' | 'shell'> {
  return {
    isAutoEdit: config.auto_edit === true,
    shell: {
      sandbox: flags.sandbox === false ? 'off' : 'auto',
      isUnsandboxedAllowed: config.allow_unsandboxed === true,
    },
  }
}

async function makeTools(options: BuiltinOptions): Promise<readonly Tool[]> {
  try {
    return await builtinTools(options)
  } catch (cause) {
    if (cause instanceof LoopchartError || !(cause instanceof Error && 'code' in cause)) throw cause
    throw new LoopchartError(
      'output_unwritable',
      `the state folder ${options.stateFolder ?? ''} cannot be made or used: ${cause.message}; set XDG_STATE_HOME to one that can`,
      { cause },
    )
  }
}

function ruleOf({ decision, tool, path, access, argv }: NonNullable<Config['policy']>[number]): PolicyRule {
  return {
    decision,
    tool,
    ...(path === undefined ? {} : { path }),
    ...(access === undefined ? {} : { access }),
    ...(argv === undefined ? {} : { argv }),
  }
}

async function sandboxNotes(flags: RunFlags, config: Config, root: string): Promise<readonly string[]> {
  if (flags.sandbox !== false && (await findSandbox(root)) !== null) return []
  const why = flags.sandbox === false ? '' : ', for bubblewrap is not installed or may not work here'
  const asked =
    config.allow_unsandboxed === true
      ? ''
      : '; each one is asked about, and --approve all does not cover them'
  const keys = Object.values(PROFILES).flatMap(({ keyVariable }) =>
    keyVariable !== null && (process.env[keyVariable] ?? '') !== '' ? [keyVariable] : [],
  )
  return [
    `unsandboxed: commands of the model run as you, with your files and your network${why}${asked}`,
    ...keys.map(
      (name) =>
        `${name} is in the environment of this process, which such a command can read through /proc; ` +
        'take the key from a file with --api-key-file instead',
    ),
  ]
}
