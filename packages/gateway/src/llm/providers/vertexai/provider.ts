import { NO_EDITS } from '../../../wire/member-edits.ts'
import type { FormatName } from '../../middle.ts'
import { Unsupported } from '../../middle.ts'
import { claudeQuirks } from '../claude-models.ts'
import { alwaysBearer, placeCredential } from '../credential.ts'
import { destinationOf } from '../destination.ts'
import { modelSegment } from '../model-segment.ts'
import { NONE } from '../openai-models.ts'
import type { Provider, ProviderCall } from '../provider.ts'
import { createTarget } from '../target.ts'
import { dropForeignHeaders } from '../vendor-headers.ts'
import { claudeBodyEdits } from './claude-body.ts'
import { googleName, vertexModel } from './model.ts'
import type { Overrides } from '../schema.ts'
import type { VertexaiConfig } from './schema.ts'

export function vertexai(config: VertexaiConfig, overrides: Overrides): Provider {
  const root = `/v1/projects/${encodeURIComponent(config.projectId)}/locations/${config.region}`
  return {
    name: 'vertexai',
    telemetryName: 'gcp.vertex_ai',
    defaultAuth: 'gcp',
    region: null,
    destination: destinationOf(overrides, hostOf(config.region)),
    model: config.model ?? null,
    chatFormats: (model) => FORMATS[vertexModel(model).publisher],
    quirks(model, format) {
      if (format !== 'messages') return NONE
      return claudeQuirks(model, { structuredSince: 406 }).add('noModel').add('noCacheScope').add('bytesOnly')
    },
    tokenCount: (model) => (vertexModel(model).publisher === 'anthropic' ? 'messages' : null),
    embeddings: () => 'vertex',
    modelList: 'vertex',
    cachesPrompts: () => false,
    target: createTarget(overrides, (call) => ownTarget(root, call), { drop: 'all' }),
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

function ownTarget(root: string, call: ProviderCall): string | Unsupported | null {
  switch (call.kind) {
    case 'chat':
      return chatTarget(root, call)
    case 'countTokens':
      return `${root}/publishers/anthropic/models/count-tokens:rawPredict`
    case 'embeddings':
      return modelTarget(`${root}/publishers/google/models`, googleName(call.model), 'predict')
    case 'models':
      // Each client knows the models of its own vendor; the whole garden would be thousands.
      return `/v1beta1/publishers/${call.format === 'messages' ? 'anthropic' : 'google'}/models?pageSize=1000`
    case 'realtime':
    case 'raw':
      return null
  }
}

function chatTarget(root: string, { model, stream }: ProviderCall): string | Unsupported {
  const { publisher, name } = vertexModel(model)
  switch (publisher) {
    case 'anthropic':
      return modelTarget(`${root}/publishers/anthropic/models`, name, stream ? 'streamRawPredict' : 'rawPredict')
    case 'google':
      return modelTarget(
        `${root}/publishers/google/models`,
        name,
        stream ? 'streamGenerateContent?alt=sse' : 'generateContent',
      )
    case 'other':
      return `${root}/endpoints/openapi/chat/completions`
  }
}

function modelTarget(collection: string, name: string, verb: string): string | Unsupported {
  const segment = modelSegment(name)
  return segment instanceof Unsupported ? segment : `${collection}/${segment}:${verb}`
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
