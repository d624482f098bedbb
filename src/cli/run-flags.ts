import type { SettingFlags } from './settings.ts'
import type { StoreFlags } from './store-option.ts'

/** What the flags of verbs that drive a run say. */
export interface RunFlags extends SettingFlags, StoreFlags {
  readonly workspace?: string
  readonly agent?: string
  readonly provider?: string
  readonly script?: string
  readonly attach?: readonly string[]
  readonly json?: true
}
