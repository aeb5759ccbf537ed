import { anthropic } from './anthropic/provider.ts'
import { azure } from './azure/provider.ts'
import { azureopenai } from './azureopenai/provider.ts'
import { bedrock } from './bedrock/provider.ts'
import { compatible } from './compatible/provider.ts'
import { gemini } from './gemini/provider.ts'
import { mock } from './mock/provider.ts'
import { openai } from './openai/provider.ts'
import { type PresetName, presetNames } from './presets.ts'
import type { Provider } from './provider.ts'
import type { Overrides } from '../../schema/fields/llm-providers.ts'
import type { LlmProviderConfig, ProviderName } from './schema.ts'
import { vertexai } from './vertexai/provider.ts'

/** The provider that a config names. */
export function createProvider(config: LlmProviderConfig): Provider {
  for (const name of Object.keys(makers) as MadeName[]) {
    const provider = make(name, config)
    if (provider !== null) return provider
  }
  for (const name of presetNames) {
    const own = config[name]
    if (own !== undefined) return compatible(name, own, config)
  }
  // The schema demands exactly one key.
  throw new Error('the config names no provider')
}

/** The providers that have code of their own. */
type MadeName = Exclude<ProviderName, PresetName>
type Maker<Name extends MadeName> = (config: NonNullable<LlmProviderConfig[Name]>, overrides: Overrides) => Provider

const makers: { [Name in MadeName]: Maker<Name> } = {
  openai,
  azureopenai,
  azure,
  anthropic,
  gemini,
  vertexai,
  bedrock,
  mock,
}

function make<Name extends MadeName>(name: Name, config: LlmProviderConfig): Provider | null {
  const own = config[name]
  return own === undefined || own === null ? null : makers[name](own, config)
}
