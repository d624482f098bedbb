import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The folder of loopchart itself, unless somebody says otherwise: `$XDG_STATE_HOME/loopchart`, or under `~/.local/state`. */
export function defaultStateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const state = env['XDG_STATE_HOME']
  // The XDG base directory specification: a path that is not absolute is to be ignored.
  const root = state !== undefined && isAbsolute(state) ? state : join(homeOf(env), '.local', 'state')
  return join(root, 'loopchart')
}

function homeOf({ HOME }: Readonly<Record<string, string | undefined>>): string {
  return HOME === undefined || HOME === '' ? homedir() : HOME
}
