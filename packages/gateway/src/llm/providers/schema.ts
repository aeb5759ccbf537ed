import { providerOverrides } from '../../schema/fields/llm-providers.ts'
import { fileOnly, object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { atMostOneOf, exactlyOneOf, onlyWith, type Rule } from '../../schema/rules.ts'
import { anthropicKey } from './anthropic/schema.ts'
import { azureKey } from './azure/schema.ts'
import { azureopenaiKey } from './azureopenai/schema.ts'
import { bedrockKey } from './bedrock/schema.ts'
import { ownServersNeedHosts, presetKeys } from './compatible/schema.ts'
import { geminiKey } from './gemini/schema.ts'
import { mockModel } from './mock/schema.ts'
import { openaiKey } from './openai/schema.ts'
import { presetNames } from './presets.ts'
import { vertexaiKey } from './vertexai/schema.ts'

/** SPEC 2.10, one key for each provider. */
const providerKeys = {
  openai: openaiKey,
  azureopenai: azureopenaiKey,
  azure: azureKey,
  anthropic: anthropicKey,
  gemini: geminiKey,
  vertexai: vertexaiKey,
  bedrock: bedrockKey,
  ...presetKeys,
  mock: fileOnly(
    mockModel.optional().describe('A provider without a model: the gateway responds by itself and marks the response.'),
  ),
}

export type ProviderName = keyof typeof providerKeys

export const providerFields = { ...providerKeys, ...providerOverrides }

/** Providers that servers of one's own imitate: they accept another path prefix than `/v1`, and inference pools. */
const PREFIXED: ReadonlySet<string> = new Set(['openai', 'anthropic', ...presetNames])

const notImitated = Object.keys(providerKeys).filter((key) => !PREFIXED.has(key))

export const providerRules: readonly Rule[] = [
  exactlyOneOf(...Object.keys(providerKeys)),
  onlyWith('port', 'host'),
  atMostOneOf('path', 'pathPrefix'),
  atMostOneOf('host', 'inferencePool'),
  ownServersNeedHosts,
  // There is exactly one provider, so at most one of these keys and the providers means: with none of the providers.
  atMostOneOf('pathPrefix', ...notImitated),
  atMostOneOf('inferencePool', ...notImitated),
]

export const llmProvider = object(providerFields, providerRules)

export type LlmProviderConfig = Output<typeof llmProvider>
