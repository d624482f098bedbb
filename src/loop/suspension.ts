/** Why a run was let go of before it ended, and when it is worth going on. */
export interface Suspension {
  /** `asked`: somebody wanted it so. */
  readonly reason: 'retry_later' | 'workspace_missing' | 'asked'
  readonly message: string
  /** In milliseconds of the wall clock; null: whenever somebody likes. */
  readonly retryAt: number | null
}
