/**
 * Scripts that do not want to end. `@` stands for a number of seconds by which a test knows their processes. Each
 * says `ready` when it is in place. All of them are bounded: none makes more than a few dozen processes.
 */
export const HOSTILE_SCRIPTS: Readonly<Record<string, string>> = {
  'waits for a child': 'sleep @ & echo ready; wait',
  'ignores SIGTERM, with all its children': `trap '' TERM; sleep @ & echo ready; wait; sleep @`,
  'has a child in a session of its own': 'setsid sleep @ & echo ready; wait',
  'forks twice and leaves': `(setsid bash -c "sleep @ & sleep @" &); echo ready; sleep @`,
  'has others hold its streams': 'sleep @ | sleep @ & disown; (sleep @ &); echo ready; sleep @',
  'closes its streams and ignores SIGTERM': `trap '' TERM; sleep @ & echo ready; exec >&- 2>&- <&-; sleep @`,
  'works without a pause': 'echo ready; : @; while :; do :; done',
  'hides in shells in shells': `bash -c "bash -c 'trap \\"\\" TERM HUP INT; sleep @ & echo ready; sleep @; sleep @'; sleep @"`,
  'has thirty children': 'for i in {1..30}; do sleep @ & done; echo ready; wait',
  'drops its environment in a session of its own': 'env -i setsid sleep @ & echo ready; wait',
}
