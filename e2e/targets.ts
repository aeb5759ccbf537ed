import { ANTHROPIC_KEY, anthropicVendor } from '../packages/gateway/src/testing/providers/anthropic.ts'
import { AZURE_KEY, azureVendor } from '../packages/gateway/src/testing/providers/azure.ts'
import { BEDROCK_KEYS, BEDROCK_TOKEN, bedrockVendor } from '../packages/gateway/src/testing/providers/bedrock.ts'
import { GEMINI_KEY, geminiVendor } from '../packages/gateway/src/testing/providers/gemini.ts'
import { OPENAI_KEY, openaiVendor } from '../packages/gateway/src/testing/providers/openai.ts'
import type { Vendor } from '../packages/gateway/src/testing/providers/reply.ts'
import { VERTEX_TOKEN, vertexVendor } from '../packages/gateway/src/testing/providers/vertexai.ts'
import type { ClientFormatName } from './clients.ts'

export type UpstreamFormatName = 'completions' | 'responses' | 'messages' | 'gemini' | 'converse'

/** A provider of the gateway, with the fake that stands for it. */
export interface Target {
  name: string
  vendor: () => Vendor
  /** The key of the config and what stands in it. */
  provider: Record<string, object>
  auth: object
  model: string
  /** The model for reasoning, if it is not `model`. */
  reasoningModel?: string
  /** True when left out. */
  takesTemperature?: boolean
  /** The format of calls to the provider, by the format of the client. */
  upstream: Record<ClientFormatName, UpstreamFormatName>
}

const always = (format: UpstreamFormatName): Target['upstream'] => ({
  completions: format,
  messages: format,
  responses: format,
})
const openaiFormats: Target['upstream'] = {
  completions: 'completions',
  messages: 'completions',
  responses: 'responses',
}
const vertexai = { projectId: 'p1', region: 'us-east5' }

export const targets: Target[] = [
  {
    name: 'openai',
    vendor: openaiVendor,
    provider: { openai: {} },
    auth: { key: OPENAI_KEY },
    model: 'gpt-4.1',
    reasoningModel: 'gpt-5.1',
    upstream: openaiFormats,
  },
  {
    name: 'azureopenai',
    vendor: azureVendor,
    provider: { azureopenai: { endpoint: 'r1.openai.azure.com' } },
    auth: { key: AZURE_KEY },
    model: 'gpt-4.1',
    reasoningModel: 'gpt-5.1',
    upstream: openaiFormats,
  },
  {
    name: 'azure OpenAI',
    vendor: azureVendor,
    provider: { azure: { resourceName: 'r1', resourceType: 'OpenAI' } },
    auth: { key: AZURE_KEY },
    // These models support reasoning with tools only in Responses.
    model: 'gpt-5.5',
    takesTemperature: false,
    upstream: { ...openaiFormats, messages: 'responses' },
  },
  {
    name: 'azure Foundry Claude',
    vendor: azureVendor,
    provider: { azure: { resourceName: 'r1', resourceType: 'Foundry', projectName: 'p1' } },
    auth: { key: AZURE_KEY },
    model: 'claude-sonnet-4-5',
    upstream: always('messages'),
  },
  {
    name: 'anthropic',
    vendor: anthropicVendor,
    provider: { anthropic: {} },
    auth: { key: ANTHROPIC_KEY },
    model: 'claude-sonnet-4-5',
    upstream: always('messages'),
  },
  {
    name: 'gemini 2.5',
    vendor: geminiVendor,
    provider: { gemini: {} },
    auth: { key: GEMINI_KEY },
    model: 'gemini-2.5-flash',
    upstream: always('gemini'),
  },
  {
    name: 'gemini 3',
    vendor: geminiVendor,
    provider: { gemini: {} },
    auth: { key: GEMINI_KEY },
    model: 'gemini-3-pro-preview',
    upstream: always('gemini'),
  },
  {
    name: 'vertexai Claude',
    vendor: vertexVendor,
    provider: { vertexai },
    auth: { key: VERTEX_TOKEN },
    // Vertex AI has structured output since this one.
    model: 'claude-sonnet-4-6',
    upstream: always('messages'),
  },
  {
    name: 'vertexai Gemini',
    vendor: vertexVendor,
    provider: { vertexai },
    auth: { key: VERTEX_TOKEN },
    model: 'gemini-2.5-flash',
    upstream: always('gemini'),
  },
  {
    name: 'vertexai other',
    vendor: vertexVendor,
    provider: { vertexai },
    auth: { key: VERTEX_TOKEN },
    model: 'meta/llama-4-maverick',
    upstream: always('completions'),
  },
  {
    name: 'bedrock',
    vendor: bedrockVendor,
    provider: { bedrock: { region: 'us-east-1' } },
    auth: {
      aws: {
        secretRef: { data: { accessKey: BEDROCK_KEYS.accessKeyId, secretKey: BEDROCK_KEYS.secretAccessKey } },
      },
    },
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    upstream: always('converse'),
  },
  {
    name: 'bedrock by API key',
    vendor: bedrockVendor,
    provider: { bedrock: { region: 'us-east-1' } },
    auth: { key: BEDROCK_TOKEN },
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    upstream: always('converse'),
  },
]
