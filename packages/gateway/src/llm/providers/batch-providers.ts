import { type Preset, presetNames, presets } from './presets.ts'
import type { LlmProviderConfig } from './schema.ts'

/**
 * Whether the gateway serves files or batches of a provider, whose ids it encrypts. The main thread asks this before it
 * loads any provider.
 */
export function hasBatches(config: LlmProviderConfig): boolean {
  if (config.openai !== undefined || config.anthropic !== undefined) return true
  return presetNames.some((name) => {
    const preset: Preset = presets[name]
    return config[name] !== undefined && preset.calls?.includes('files') === true
  })
}
