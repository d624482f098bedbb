import { HOME_IN_SANDBOX } from './command-environment.ts'
import type { Sandbox } from './find-sandbox.ts'
import { isWithin } from './find-program.ts'
import type { HiddenPlaces } from './hidden-places.ts'
import { STATUS_FLAGS } from './sandbox-status.ts'
import type { WorkspaceView } from './workspace-view.ts'

/** What the sandbox of a command is made of. */
export interface SandboxPlan {
  readonly sandbox: Sandbox
  readonly workspaceRoot: string
  readonly view: WorkspaceView
  readonly hidden: HiddenPlaces
}

const MACHINE: readonly string[] = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']
const TEMPORARY_BYTES_MAX = 1024 ** 3

/**
 * The argv that runs another one in the sandbox. Paths are arguments of their own, so none can be read as anything
 * else. What is bound later lies over what was bound earlier: what is hidden first, then the workspace, which may lie
 * inside, then what must not be touched in it. The environment is the one that bwrap itself is started with: given as
 * arguments, everybody on the machine could read it, and its process inside the sandbox would show ours.
 *
 * A protected file at the top that is not there yet (`.github`, `.git` itself) can be made: covering it would leave an
 * empty one in the workspace.
 */
export function sandboxArgv(plan: SandboxPlan, argv: readonly string[]): readonly string[] {
  const { sandbox, workspaceRoot, view, hidden } = plan
  const isInside = (path: string): boolean => path !== workspaceRoot && isWithin(workspaceRoot, path)
  const outside = (paths: readonly string[]): readonly string[] =>
    outermost(paths.filter((path) => !isInside(path)))
  const inside = (paths: readonly string[]): readonly string[] =>
    outermost(paths.filter((path) => isInside(path)))
  const isCovered = (path: string): boolean =>
    hidden.folders.some((folder) => !isInside(folder) && isWithin(folder, path))
  return [
    sandbox.path,
    ...sandbox.flags,
    ...STATUS_FLAGS,
    ...MACHINE,
    ...outside(hidden.folders).flatMap((path) => ['--size', `${TEMPORARY_BYTES_MAX}`, '--tmpfs', path]),
    ...outside(hidden.files).flatMap((path) => (isCovered(path) ? [] : cover(path))),
    ...hidden.shown.flatMap((path) => ['--ro-bind-try', path, path]),
    ...[workspaceRoot, ...view.pinned].flatMap((path) => ['--bind', path, path]),
    ...view.readOnly.flatMap((path) => ['--ro-bind-try', path, path]),
    ...[...view.coveredFiles, ...inside(hidden.files)].flatMap((path) => cover(path)),
    ...[...view.coveredFolders, ...inside(hidden.folders)].flatMap((path) => blank(path)),
    '--dir',
    HOME_IN_SANDBOX,
    '--chdir',
    workspaceRoot,
    '--',
    ...argv,
  ]
}

/** A device on a mount without devices: it cannot even be opened. */
function cover(path: string): readonly string[] {
  return ['--ro-bind', '/dev/null', path]
}

function blank(path: string): readonly string[] {
  return ['--tmpfs', path, '--remount-ro', path]
}

function outermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(other, path)))
}
