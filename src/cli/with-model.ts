import type { Settings } from './settings.ts'

/** The settings with another model, if there is one. */
export function withModel(settings: Settings, model: string | undefined): Settings {
  return model === undefined ? settings : { ...settings, config: { ...settings.config, model } }
}
