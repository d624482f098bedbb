/** What a finished command tells the shell. */
export const ExitCode = {
  ok: 0,
  internal: 1,
  usage: 2,
  failed: 4,
} as const
