import { NO_EDITS } from '@portico/http/json'
import { UnsupportedField } from '@portico/chat'
import {
  byModel,
  type CredentialHeader,
  placeCredential,
  basePath,
  createTarget,
  destinationOf,
  dropBrowserHeaders,
  dropForeignHeaders,
  setAnthropicVersion,
} from '../provider-kit.ts'
import { claudeQuirks } from '../claude-models.ts'
import { NONE } from '../openai-models.ts'
import { NO_OTHER_CALLS, type Provider, type ProviderCall } from '../provider.ts'
import { isOpenAiCall } from '../openai-calls.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'
import type { AnthropicConfig } from './schema.ts'

export function anthropic(config: AnthropicConfig, overrides: Overrides): Provider {
  const base = basePath(overrides)
  const quirksOf = byModel((model) => claudeQuirks(model, { structuredSince: 405 }))
  return {
    name: 'anthropic',
    telemetryName: 'anthropic',
    defaultAuth: 'none',
    region: null,
    destination: destinationOf(overrides, 'api.anthropic.com'),
    model: config.model ?? null,
    chatFormats: () => ['messages'],
    quirks: (model, format) => (format === 'messages' ? quirksOf(model) : NONE),
    tokenCount: () => 'messages',
    embeddings: () => null,
    ...NO_OTHER_CALLS,
    hasMessageBatches: true,
    modelList: 'anthropic',
    cachesPrompts: () => false,
    target: createTarget(overrides, (call) => ownTarget(base, call), { drop: [] }),
    finishHeaders(headers, { kind }, credential) {
      placeCredential(headers, credential, keyHeader)
      dropBrowserHeaders(headers)
      if (kind !== 'raw') dropForeignHeaders(headers, 'anthropic')
      setAnthropicVersion(headers)
    },
    finishBody: () => NO_EDITS,
  }
}

function ownTarget(base: string, call: ProviderCall): string | UnsupportedField | null {
  const { kind, format, resource = '' } = call
  if (kind === 'chat') return `${base}/messages`
  if (kind === 'batches' && format === 'messages') return `${base}/messages/batches${resource}`
  if (kind === 'rerank' || isOpenAiCall(kind)) return new UnsupportedField('path', 'anthropic has no such call')
  switch (kind) {
    case 'countTokens':
      return `${base}/messages/count_tokens`
    case 'models':
      return `${base}/models`
    case 'embeddings':
      return new UnsupportedField('model', 'anthropic has no embeddings')
    case 'realtime':
    case 'raw':
      return null
  }
}

/** Subscription tokens are bearer tokens, not API keys. */
function keyHeader(credential: string): CredentialHeader {
  return credential.startsWith('sk-ant-oat') ? 'authorization' : 'x-api-key'
}
