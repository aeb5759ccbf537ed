import { objectsAt } from '@portico/http/json'
import { type JsonObject, type Loss, UnsupportedField } from '../middle.ts'
import type { EmbeddingRequest, Embeddings, EmbeddingUpstream } from './embedding.ts'
import { carryKnown, countedByHeader, inputUsage, onlyTextOf, isVector } from './translation.ts'

/** Amazon Nova on Bedrock. */
export const novaEmbeddings: EmbeddingUpstream = { isSingle: true, encodeRequest, decodeResponse }

function encodeRequest(request: EmbeddingRequest, _model: string, losses: Loss[]): JsonObject | UnsupportedField {
  const value = onlyTextOf(request)
  if (value instanceof UnsupportedField) return value
  const { truncationMode = 'END', ...params } = carryKnown(request, KNOWN, losses)
  return {
    schemaVersion: 'nova-multimodal-embed-v1',
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: 'GENERIC_INDEX',
      ...params,
      ...(request.dimensions !== undefined && { embeddingDimension: request.dimensions }),
      text: { truncationMode, value },
    },
  }
}

const KNOWN = { embedding_purpose: 'embeddingPurpose', truncate: 'truncationMode' }

function decodeResponse(body: JsonObject, header: (name: string) => string | undefined): Embeddings | null {
  const vectors = objectsAt(body, 'embeddings')
    .map(({ embedding }) => embedding)
    .filter(isVector)
  return vectors.length === 0 ? null : { model: '', vectors, usage: inputUsage(countedByHeader(header)) }
}
