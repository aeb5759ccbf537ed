import { NO_EDITS } from '@portico/http/json'
import { UnsupportedField } from '@portico/chat'
import {
  alwaysBearer,
  type CredentialHeader,
  placeCredential,
  modelSegment,
  createTarget,
  destinationOf,
  dropForeignHeaders,
  googleMethod,
} from '../provider-kit.ts'
import { NONE } from '../openai-models.ts'
import { isOpenAiCall, OPENAI_CALLS, type OpenAiCall } from '../openai-calls.ts'
import type { Provider, ProviderCall } from '../provider.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'
import type { GeminiConfig } from './schema.ts'

/** Google's Gemini API. Chats always use the native endpoint, because the OpenAI-compatible endpoint supports less. */
export function gemini(config: GeminiConfig, overrides: Overrides): Provider {
  return {
    name: 'gemini',
    telemetryName: 'gcp.gemini',
    defaultAuth: 'none',
    region: null,
    destination: destinationOf(overrides, 'generativelanguage.googleapis.com'),
    rerankDestination: null,
    model: config.model ?? null,
    chatFormats: () => ['gemini'],
    quirks: (_model, format) => (format === 'gemini' ? CALL_IDS : NONE),
    tokenCount: () => null,
    hasGoogleCalls: () => true,
    embeddings: () => 'openai',
    calls: CALLS,
    rerank: () => null,
    modelList: 'openai',
    cachesPrompts: () => false,
    target: createTarget(overrides, ownTarget, { drop: 'all' }),
    finishHeaders(headers, { kind, format }, credential) {
      const isCompatible =
        (kind === 'embeddings' && format !== 'gemini') || kind === 'models' || (kind !== 'chat' && isOpenAiCall(kind))
      placeCredential(headers, credential, isCompatible ? alwaysBearer : keyHeader)
      if (kind !== 'raw') dropForeignHeaders(headers, 'google')
    },
    finishBody: () => NO_EDITS,
  }
}

function ownTarget(call: ProviderCall): string | UnsupportedField | null {
  const { kind, format } = call
  if (kind === 'chat' || format === 'gemini') return modelTarget(call)
  if (isOpenAiCall(kind)) return `/v1beta/openai/${OPENAI_CALLS[kind]}`
  switch (kind) {
    // The endpoint that speaks OpenAI's formats.
    case 'embeddings':
    case 'models':
      return `/v1beta/openai/${kind}`
    case 'rerank':
    case 'countTokens':
    case 'realtime':
    case 'raw':
      return null
  }
}

function modelTarget(call: ProviderCall): string | UnsupportedField {
  const [, collection = 'models', name = ''] = /^(?:(models|tunedModels)\/)?(.*)$/s.exec(call.model) ?? []
  const segment = modelSegment(name)
  return segment instanceof UnsupportedField ? segment : `/v1beta/${collection}/${segment}:${googleMethod(call)}`
}

/** The header for a credential: API keys of both kinds have their own header, tokens use `Authorization`. */
function keyHeader(credential: string): CredentialHeader {
  return /^(?:AIza|AQ\.)/.test(credential) ? 'x-goog-api-key' : 'authorization'
}

const CALLS: ReadonlySet<OpenAiCall> = new Set<OpenAiCall>(['imageGenerations'])
const CALL_IDS: ReadonlySet<string> = new Set(['callIds'])
