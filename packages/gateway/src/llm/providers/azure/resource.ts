import { NO_EDITS } from '@portico/http/json'
import { type FormatName, UnsupportedField } from '@portico/chat'
import { claudeQuirks, isClaude } from '../claude-models.ts'
import {
  type CredentialHeader,
  placeCredential,
  createTarget,
  destinationOf,
  dropForeignHeaders,
  setAnthropicVersion,
  modelSegment,
} from '../provider-kit.ts'
import { NONE, openAiFormats, openAiQuirks } from '../openai-models.ts'
import { isOpenAiCall, OPENAI_CALLS, type OpenAiCall } from '../openai-calls.ts'
import type { Provider, ProviderCall } from '../provider.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'
import { withParameter } from '../../../formats/query-parameters.ts'

/** An Azure resource, whichever way the config names it. */
interface AzureResource {
  host: string
  /** Whether the resource is a Foundry resource, which also has models of other vendors. */
  isFoundry: boolean
  /** The project of a Foundry resource; null when its address has none. */
  project: string | null
  apiVersion: string
  model: string | null
}

export function azureProvider(name: 'azure' | 'azureopenai', resource: AzureResource, overrides: Overrides): Provider {
  const speaksClaude = (model: string): boolean => resource.isFoundry && isClaude(model)
  const isDated = /^\d/.test(resource.apiVersion)
  return {
    name,
    telemetryName: 'azure',
    defaultAuth: 'azure',
    region: null,
    destination: destinationOf(overrides, resource.host),
    rerankDestination: null,
    model: resource.model,
    chatFormats(model) {
      if (speaksClaude(model)) return MESSAGES
      return resource.apiVersion < FIRST_WITH_RESPONSES && isDated ? COMPLETIONS : openAiFormats(model)
    },
    quirks(model, format) {
      if (format === 'messages') return claudeQuirks(model, { structuredSince: 405 })
      if (format !== 'completions') return NONE
      const quirks = openAiQuirks(model, !resource.isFoundry || !OTHER_VENDORS.test(model))
      return isDated && resource.apiVersion < FIRST_WITH_COMPLETION_TOKENS
        ? without(quirks, 'completionTokens')
        : quirks
    },
    tokenCount: (model) => (speaksClaude(model) ? 'messages' : null),
    embeddings: () => 'openai',
    calls: CALLS,
    rerank: () => null,
    modelList: 'openai',
    cachesPrompts: () => false,
    target: createTarget(overrides, (call) => ownTarget(resource, call, speaksClaude(call.model)), {
      drop: ['api-version'],
    }),
    finishHeaders(headers, { kind, model }, credential) {
      const isMessages = speaksClaude(model) && (kind === 'chat' || kind === 'countTokens')
      placeCredential(headers, credential, (value) => keyHeader(value, isMessages || isDated))
      if (kind !== 'raw') dropForeignHeaders(headers, isMessages ? 'anthropic' : 'openai')
      if (isMessages) setAnthropicVersion(headers)
    },
    finishBody: () => NO_EDITS,
  }
}

/**
 * The header for the key. The `v1` paths accept the key as a bearer token, as OpenAI's SDK sends it; other paths accept
 * the key only in `api-key`.
 */
function keyHeader(credential: string, ownHeader: boolean): CredentialHeader {
  const isToken = credential.startsWith('eyJ')
  return ownHeader && !isToken ? 'api-key' : 'authorization'
}

function without(quirks: ReadonlySet<string>, quirk: string): ReadonlySet<string> {
  return quirks.has(quirk) ? new Set([...quirks].filter((each) => each !== quirk)) : quirks
}

/** Deployments in a Foundry project usually keep the names of their models. */
const OTHER_VENDORS =
  /^(?:mistral|ministral|codestral|llama|meta-|deepseek|phi-|grok|cohere|command|jamba|ai21|qwen|kimi|gpt-oss|mai-|flux)/i
const FIRST_WITH_COMPLETION_TOKENS = '2024-09'
const MESSAGES: readonly [FormatName] = ['messages']
const COMPLETIONS: readonly [FormatName] = ['completions']
const CALLS: ReadonlySet<OpenAiCall> = new Set<OpenAiCall>([
  'imageGenerations',
  'imageEdits',
  'speech',
  'transcriptions',
  'translations',
])
const FIRST_WITH_RESPONSES = '2025-03'

/** The path of the `v1` API, of an older dated API version, or of Claude. */
function ownTarget(resource: AzureResource, call: ProviderCall, isClaude: boolean): string | UnsupportedField | null {
  const suffix = suffixOf(call)
  if (suffix === null) return isClaude ? '/anthropic/v1/messages/count_tokens' : null
  if (isClaude && call.kind === 'chat') return '/anthropic/v1/messages'
  const { apiVersion, isFoundry, project } = resource
  const version = apiVersion === 'v1' ? '' : `?api-version=${encodeURIComponent(apiVersion)}`
  const root = project === null ? '' : `/api/projects/${encodeURIComponent(project)}`
  const isVersioned = apiVersion === 'v1' || apiVersion === 'preview' || isFoundry
  if (isVersioned) {
    const target = `${root}/openai/v1/${suffix}${version}`
    return call.kind === 'realtime' ? withParameter(target, 'model', call.model) : target
  }
  if (suffix === 'responses' || suffix === 'models') return `/openai/${suffix}${version}`
  if (suffix === 'realtime') return withParameter(`/openai/realtime${version}`, 'deployment', call.model)
  const deployment = modelSegment(call.model)
  return deployment instanceof UnsupportedField ? deployment : `/openai/deployments/${deployment}/${suffix}${version}`
}

function suffixOf({ kind, format }: ProviderCall): string | null {
  if (kind === 'chat') return format === 'responses' ? 'responses' : 'chat/completions'
  if (isOpenAiCall(kind)) return OPENAI_CALLS[kind]
  switch (kind) {
    case 'embeddings':
    case 'models':
    case 'realtime':
      return kind
    case 'countTokens':
    case 'rerank':
    case 'raw':
      return null
  }
}
