import { withParameter } from '../../../formats/query-parameters.ts'
import { NO_EDITS } from '@portico/http/json'
import {
  byModel,
  alwaysBearer,
  placeCredential,
  basePath,
  createTarget,
  destinationOf,
  dropForeignHeaders,
} from '../provider-kit.ts'
import { COMPLETIONS_FIRST, NONE, openAiFormats, openAiQuirks } from '../openai-models.ts'
import { isOpenAiCall, OPENAI_CALLS, type OpenAiCall } from '../openai-calls.ts'
import type { Provider, ProviderCall } from '../provider.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'
import type { OpenaiConfig } from './schema.ts'

/** OpenAI, or with a host of one's own any server that speaks its formats. */
export function openai(config: OpenaiConfig, overrides: Overrides, rerankPath: string | null = null): Provider {
  const base = basePath(overrides)
  const isVendor = overrides.host === undefined
  const isVendorsServer = isVendor && overrides.inferencePool === undefined
  const formatsOf = byModel(openAiFormats)
  const quirksOf = byModel((model) => openAiQuirks(model, isVendor))
  return {
    name: 'openai',
    telemetryName: 'openai',
    defaultAuth: 'none',
    region: null,
    destination: destinationOf(overrides, 'api.openai.com'),
    rerankDestination: null,
    model: config.model ?? null,
    // Other servers know the older format better.
    chatFormats: (model) => (isVendor ? formatsOf(model) : COMPLETIONS_FIRST),
    quirks(model, format) {
      if (format === 'completions') return quirksOf(model)
      return isVendor ? SUMMARIES_ON_REQUEST : NONE
    },
    tokenCount: () => null,
    embeddings: () => 'openai',
    calls: ALL_CALLS,
    // OpenAI itself has no rerank calls, and many servers that imitate it do.
    rerank: () => (isVendorsServer ? null : 'same'),
    modelList: 'openai',
    cachesPrompts: () => false,
    target: createTarget(overrides, (call) => ownTarget(base, call, rerankPath), { drop: [] }),
    finishHeaders(headers, { kind }, credential) {
      placeCredential(headers, credential, alwaysBearer)
      if (kind !== 'raw') dropForeignHeaders(headers, 'openai')
    },
    finishBody: () => NO_EDITS,
  }
}

const ALL_CALLS: ReadonlySet<OpenAiCall> = new Set(Object.keys(OPENAI_CALLS) as OpenAiCall[])
const SUMMARIES_ON_REQUEST: ReadonlySet<string> = new Set(['summariesOnRequest'])

function ownTarget(base: string, call: ProviderCall, rerankPath: string | null): string | null {
  const { kind } = call
  if (kind === 'chat') return base + (call.format === 'responses' ? '/responses' : '/chat/completions')
  if (isOpenAiCall(kind)) return `${base}/${OPENAI_CALLS[kind]}${call.resource ?? ''}`
  switch (kind) {
    case 'rerank':
      return rerankPath ?? `${base}/rerank`
    case 'embeddings':
      return `${base}/embeddings`
    case 'models':
      return `${base}/models`
    case 'realtime':
      return withParameter(`${base}/realtime`, 'model', call.model)
    case 'countTokens':
    case 'raw':
      return null
  }
}
