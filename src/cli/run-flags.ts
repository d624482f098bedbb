import type { SettingFlags } from './settings.ts'
import type { StoreFlags } from './store-option.ts'

/** What flags say about the built-in tools, besides settings. */
interface ToolFlags {
  readonly workspace?: string
  /** False for `--no-sandbox`. */
  readonly sandbox?: boolean
  /** The workspace is trusted for this run. */
  readonly trust?: true
}

/** What the flags of verbs that drive a run say. */
export interface RunFlags extends SettingFlags, StoreFlags, ToolFlags {
  readonly agent?: string
  readonly provider?: string
  readonly script?: string
  readonly attach?: readonly string[]
  readonly json?: true
  /** The conversation that the prompt is a message of. */
  readonly conversation?: string
}
