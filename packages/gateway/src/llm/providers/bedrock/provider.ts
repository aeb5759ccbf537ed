import { type MemberEdits, NO_EDITS, objectAt, parseJsonObject } from '@portico/http/json'
import { type Json, type JsonObject, UnsupportedField } from '@portico/chat'
import { claudeQuirks } from '../claude-models.ts'
import {
  alwaysBearer,
  placeCredential,
  modelSegment,
  createTarget,
  destinationOf,
  dropForeignHeaders,
} from '../provider-kit.ts'
import { NONE } from '../openai-models.ts'
import { type EmbeddingsKind, NO_CALLS, type Provider, type ProviderCall } from '../provider.ts'
import { isOpenAiCall } from '../openai-calls.ts'
import type { Overrides } from '../../../schema/fields/llm-providers.ts'
import type { BedrockConfig } from './schema.ts'

export function bedrock(config: BedrockConfig, overrides: Overrides): Provider {
  const { region, guardrail } = config
  return {
    name: 'bedrock',
    telemetryName: 'aws.bedrock',
    defaultAuth: 'aws',
    region,
    destination: destinationOf(overrides, `bedrock-runtime.${region}.amazonaws.com`),
    rerankDestination:
      overrides.host === undefined ? destinationOf(overrides, `bedrock-agent-runtime.${region}.amazonaws.com`) : null,
    model: config.model ?? null,
    chatFormats: () => ['converse'],
    quirks: quirksOf,
    tokenCount: (model) => (isClaude(model) ? 'bedrock' : null),
    embeddings: embeddingsOf,
    calls: NO_CALLS,
    rerank: () => 'bedrock',
    modelList: null,
    cachesPrompts,
    target: createTarget(overrides, ownTarget, { drop: 'all' }),
    finishHeaders(headers, { kind }, credential) {
      placeCredential(headers, credential, alwaysBearer)
      // Headers of the client's own signature would become part of the gateway's signature. Raw calls with a client
      // signature keep all of them.
      const passes = kind === 'raw' && /^AWS4-/.test(headers.get('authorization') ?? '')
      if (!passes) for (const name of SIGNATURE_HEADERS) headers.remove(name)
      if (kind === 'raw') return
      dropForeignHeaders(headers, 'amazon')
      // The body carries the metadata now.
      headers.remove(METADATA_HEADER)
      // One SDK sends these ids, and they would become part of the signature.
      for (const name of ['conversation_id', 'session_id']) headers.remove(name)
    },
    finishBody(body, { kind, model }, headers) {
      return kind === 'chat' ? converseEdits(body, headers, { guardrail, isClaude: isClaude(model) }) : NO_EDITS
    },
  }
}

const SIGNATURE_HEADERS = ['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256']

function ownTarget({ kind, model, stream }: ProviderCall): string | UnsupportedField | null {
  if (kind === 'models') return new UnsupportedField('path', 'the chat endpoint of Bedrock cannot list models')
  if (kind === 'realtime' || kind === 'raw') return null
  if (kind === 'rerank') return '/rerank'
  const segment = modelSegment(model)
  if (segment instanceof UnsupportedField) return segment
  if (kind === 'chat') return `/model/${segment}/${stream ? 'converse-stream' : 'converse'}`
  if (isOpenAiCall(kind)) return new UnsupportedField('path', 'bedrock has no such call')
  return `/model/${segment}/${kind === 'embeddings' ? 'invoke' : 'count-tokens'}`
}

/** Models of these vendors have no structured output on Bedrock. */
const UNSTRUCTURED = /(?:amazon|meta|cohere|ai21)\./
const NO_OUTPUT_FORMAT: ReadonlySet<string> = new Set(['noOutputFormat'])

function quirksOf(model: string): ReadonlySet<string> {
  if (isClaude(model)) return claudeQuirks(model, { structuredSince: 405 })
  return UNSTRUCTURED.test(model) ? NO_OUTPUT_FORMAT : NONE
}

function embeddingsOf(model: string): EmbeddingsKind | null {
  if (model.includes('titan-embed')) return 'titan'
  if (model.includes('cohere.embed')) return 'cohere'
  return model.includes('nova') && model.includes('embed') ? 'nova' : null
}

function isClaude(model: string): boolean {
  return model.includes('anthropic.claude')
}

/** Application inference profiles do not tell which model they use, so they count as caching. */
function cachesPrompts(model: string): boolean {
  if (isClaude(model)) return !/claude-(?:instant|v1|v2)/.test(model)
  return model.includes('amazon.nova') || /^arn:aws[\w-]*:bedrock:.*:application-inference-profile\//.test(model)
}

type Guardrail = BedrockConfig['guardrail']

/** Moves into the body the settings that other vendors take in headers, and adds the configured guardrail. */
function converseEdits(
  body: JsonObject,
  headers: { joined(name: string): string | null; get(name: string): string | null },
  { guardrail, isClaude }: { guardrail: Guardrail; isClaude: boolean },
): MemberEdits {
  const edits = new Map<string, Json>()
  if (guardrail !== undefined) {
    const { identifier, version } = guardrail
    edits.set('guardrailConfig', { guardrailIdentifier: identifier, guardrailVersion: version, trace: 'enabled' })
  }
  const betas = isClaude ? knownBetas(headers.joined('anthropic-beta') ?? '') : []
  if (betas.length > 0) {
    const fields = objectAt(body, 'additionalModelRequestFields')
    edits.set('additionalModelRequestFields', { ...fields, anthropic_beta: betas })
  }
  const metadata = requestMetadata(headers.get(METADATA_HEADER))
  if (metadata !== null) edits.set('requestMetadata', metadata)
  return edits
}

const METADATA_HEADER = 'x-bedrock-metadata'

/** The betas that Bedrock knows; Bedrock refuses a request with an unknown beta. */
function knownBetas(header: string): string[] {
  return header
    .split(',')
    .map((name) => name.trim())
    .filter((name) => BETAS.has(name))
}

/** The header's flat object with its values as texts; null when the header is not such an object. */
function requestMetadata(header: string | null): JsonObject | null {
  const object = header === null ? null : parseJsonObject(header)
  if (object === null) return null
  const metadata = new Map<string, string>()
  for (const [name, value] of Object.entries(object)) {
    if (typeof value === 'object') return null
    metadata.set(name, String(value))
  }
  return metadata.size === 0 ? null : Object.fromEntries(metadata)
}

const BETAS: ReadonlySet<string> = new Set([
  'computer-use-2025-01-24',
  'token-efficient-tools-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'dev-full-thinking-2025-05-14',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
])
