import { openai } from '../openai/provider.ts'
import type { OpenaiConfig } from '../openai/schema.ts'
import { type Preset, type PresetName, presets } from '../presets.ts'
import type { Provider } from '../provider.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'

/** A vendor of the table `presets`: OpenAI's calls at another address, with the vendor's formats and quirks. */
export function compatible(name: PresetName, config: OpenaiConfig, overrides: Overrides): Provider {
  const preset: Preset = presets[name]
  const quirks = new Set(preset.quirks)
  const calls = new Set(preset.calls)
  // A configured prefix is for all calls.
  const ownRerankPath = overrides.pathPrefix === undefined ? (preset.rerank?.path ?? null) : null
  return {
    ...openai(config, withAddress(overrides, preset), ownRerankPath),
    name,
    telemetryName: name,
    chatFormats: () => preset.formats,
    quirks: (_model, format) => (format === 'completions' ? quirks : NONE),
    embeddings: () => (preset.hasEmbeddings ? 'openai' : null),
    calls,
    rerank: () => preset.rerank?.kind ?? null,
    modelList: preset.hasModelList ? 'openai' : null,
  }
}

const NONE: ReadonlySet<string> = new Set()

/** The vendor's address where the config has none. A server of the user keeps the usual port of its kind. */
function withAddress(overrides: Overrides, { host, port, path }: Preset): Overrides {
  const isElsewhere = overrides.host !== undefined && host !== null
  return {
    ...overrides,
    host: overrides.host ?? host ?? undefined,
    port: overrides.port ?? (isElsewhere ? undefined : port),
    pathPrefix: overrides.pathPrefix ?? path,
  }
}
