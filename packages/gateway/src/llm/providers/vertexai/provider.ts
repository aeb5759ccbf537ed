import { isObject, type MemberEdits, NO_EDITS, objectAt } from '@portico/http/json'
import { type FormatName, type Json, type JsonObject, UnsupportedField } from '@portico/chat'
import { claudeQuirks, isClaude } from '../claude-models.ts'
import {
  alwaysBearer,
  placeCredential,
  modelSegment,
  createTarget,
  destinationOf,
  dropForeignHeaders,
  googleMethod,
} from '../provider-kit.ts'
import { NONE } from '../openai-models.ts'
import { NO_CALLS, type Provider, type ProviderCall } from '../provider.ts'
import { isOpenAiCall } from '../openai-calls.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'
import type { VertexaiConfig } from './schema.ts'

export function vertexai(config: VertexaiConfig, overrides: Overrides): Provider {
  const rankingPath = `/v1/projects/${encodeURIComponent(config.projectId)}/locations/${rankingLocation(config.region)}/rankingConfigs/default_ranking_config:rank`
  const root = `/v1/projects/${encodeURIComponent(config.projectId)}/locations/${config.region}`
  return {
    name: 'vertexai',
    telemetryName: 'gcp.vertex_ai',
    defaultAuth: 'gcp',
    region: null,
    destination: destinationOf(overrides, hostOf(config.region)),
    rerankDestination: overrides.host === undefined ? destinationOf(overrides, rankingHost(config.region)) : null,
    model: config.model ?? null,
    chatFormats: (model) => FORMATS[vertexModel(model).publisher],
    quirks(model, format) {
      if (format !== 'messages') return NONE
      return claudeQuirks(model, { structuredSince: 406 }).add('noModel').add('noCacheScope').add('bytesOnly')
    },
    tokenCount: (model) => (vertexModel(model).publisher === 'anthropic' ? 'messages' : null),
    hasGoogleCalls: (model, kind) => kind === 'countTokens' && vertexModel(model).publisher === 'google',
    embeddings: () => 'vertex',
    calls: NO_CALLS,
    rerank: () => 'vertex',
    modelList: 'vertex',
    cachesPrompts: () => false,
    target: createTarget(overrides, (call) => (call.kind === 'rerank' ? rankingPath : ownTarget(root, call)), {
      drop: 'all',
    }),
    finishHeaders(headers, { kind, format }, credential) {
      placeCredential(headers, credential, alwaysBearer)
      if (kind !== 'raw') dropForeignHeaders(headers, format === 'messages' ? 'anthropic' : 'google')
    },
    finishBody(body, call) {
      const { publisher, name } = vertexModel(call.model)
      const isMessages = call.kind === 'chat' || call.kind === 'countTokens'
      return publisher === 'anthropic' && isMessages ? claudeBodyEdits(body, call, name) : NO_EDITS
    },
  }
}

function ownTarget(root: string, call: ProviderCall): string | UnsupportedField | null {
  const { kind } = call
  if (kind === 'chat') return chatTarget(root, call)
  if (isOpenAiCall(kind)) return new UnsupportedField('path', 'vertexai has no such call')
  switch (kind) {
    case 'countTokens':
      if (call.format === 'gemini') return chatTarget(root, call)
      return `${root}/publishers/anthropic/models/count-tokens:rawPredict`
    case 'embeddings':
      return modelTarget(`${root}/publishers/google/models`, googleName(call.model), 'predict')
    case 'models':
      // Clients get the models of their own vendor, because the whole Model Garden has thousands.
      return `/v1beta1/publishers/${call.format === 'messages' ? 'anthropic' : 'google'}/models?pageSize=1000`
    case 'rerank':
    case 'realtime':
    case 'raw':
      return null
  }
}

function chatTarget(root: string, call: ProviderCall): string | UnsupportedField {
  const { model, stream } = call
  const { publisher, name } = vertexModel(model)
  switch (publisher) {
    case 'anthropic':
      return modelTarget(`${root}/publishers/anthropic/models`, name, stream ? 'streamRawPredict' : 'rawPredict')
    case 'google':
      return modelTarget(`${root}/publishers/google/models`, name, googleMethod(call))
    case 'other':
      return `${root}/endpoints/openapi/chat/completions`
  }
}

function modelTarget(collection: string, name: string, verb: string): string | UnsupportedField {
  const segment = modelSegment(name)
  return segment instanceof UnsupportedField ? segment : `${collection}/${segment}:${verb}`
}

/** The ranking API is in two multi-regions and a global location. */
function rankingLocation(region: string): string {
  if (region === 'us' || region.startsWith('us-')) return 'us'
  return region === 'eu' || region.startsWith('europe-') ? 'eu' : 'global'
}

function rankingHost(region: string): string {
  const location = rankingLocation(region)
  return `${location === 'global' ? '' : `${location}-`}discoveryengine.googleapis.com`
}

function hostOf(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`
  return `${region}-aiplatform.googleapis.com`
}

const FORMATS: Readonly<Record<'anthropic' | 'google' | 'other', readonly [FormatName]>> = {
  anthropic: ['messages'],
  google: ['gemini'],
  other: ['completions'],
}

/** The publisher of a model on Vertex, and the model's name in the path. */
type VertexModel =
  | { publisher: 'anthropic'; name: string }
  | { publisher: 'google'; name: string }
  /** Served only by the OpenAI-compatible endpoint; the body names the model, with its publisher. */
  | { publisher: 'other'; name: string }

function vertexModel(model: string): VertexModel {
  if (isClaude(model)) {
    const name = model.replace(/^(?:publishers\/)?anthropic\/(?:models\/)?/, '')
    return { publisher: 'anthropic', name: name.replace(/-(\d{8})$/, '@$1') }
  }
  const name = googleName(model)
  return /^gemini[-@]/.test(name) && !isEmbedding(name)
    ? { publisher: 'google', name }
    : { publisher: 'other', name: model }
}

/** The name of a Google model without its prefix. */
function googleName(model: string): string {
  return model.replace(/^(?:publishers\/google\/models\/|google\/|models\/)/, '')
}

function isEmbedding(name: string): boolean {
  return name.includes('embedding')
}

/**
 * The edits for Claude on Vertex: the version goes into the body, the model into the path, and fields that Vertex
 * refuses are removed.
 */
function claudeBodyEdits(body: JsonObject, { kind }: ProviderCall, model: string): MemberEdits {
  const edits = new Map<string, Json | undefined>([['anthropic_version', 'vertex-2023-10-16']])
  // Token counting has one path for all models.
  edits.set('model', kind === 'countTokens' ? model : undefined)
  if (body.output_format !== undefined) {
    edits.set('output_format', undefined)
    // Vertex knows only the newer name, `output_config.format`.
    if (kind === 'chat' && isObject(body.output_format)) {
      edits.set('output_config', { ...objectAt(body, 'output_config'), format: body.output_format })
    }
  }
  for (const name of ['system', 'messages', 'tools']) {
    const value = body[name]
    if (value === undefined) continue
    const plain = withoutScopes(value)
    if (plain !== value) edits.set(name, plain)
  }
  return edits
}

/** Removes the scope from cache marks; returns the same value when no mark has a scope. */
function withoutScopes(value: Json): Json {
  if (Array.isArray(value)) {
    const items = value.map(withoutScopes)
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    name === 'cache_control' && isObject(member) ? withoutScope(member) : withoutScopes(member),
  ])
  return members.some(([name, member]) => member !== value[name]) ? Object.fromEntries(members) : value
}

function withoutScope(mark: JsonObject): JsonObject {
  if (mark.scope === undefined) return mark
  const { scope: _scope, ...rest } = mark
  return rest
}
