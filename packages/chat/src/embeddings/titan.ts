import { countAt, objectAt } from '@portico/http/json'
import { type JsonObject, type Loss, UnsupportedField } from '../middle.ts'
import type { EmbeddingRequest, Embeddings, EmbeddingUpstream } from './embedding.ts'
import { carryKnown, countedByHeader, inputUsage, onlyTextOf, isVector } from './translation.ts'

/** Amazon Titan on Bedrock. */
export const titanEmbeddings: EmbeddingUpstream = { isSingle: true, encodeRequest, decodeResponse }

function encodeRequest(request: EmbeddingRequest, model: string, losses: Loss[]): JsonObject | UnsupportedField {
  const inputText = onlyTextOf(request)
  if (inputText instanceof UnsupportedField) return inputText
  return { inputText, ...encodeDimensions(request.dimensions, model), ...carryKnown(request, KNOWN, losses) }
}

const KNOWN = { normalize: 'normalize', embedding_types: 'embeddingTypes', embeddingTypes: 'embeddingTypes' }

function encodeDimensions(dimensions: number | undefined, model: string): JsonObject {
  if (dimensions === undefined) return {}
  return model.includes('embed-image') ? { embeddingConfig: { outputEmbeddingLength: dimensions } } : { dimensions }
}

function decodeResponse(body: JsonObject, header: (name: string) => string | undefined): Embeddings | null {
  const byType = objectAt(body, 'embeddingsByType')
  const vector = [body.embedding, byType.float, byType.binary].find(isVector)
  if (vector === undefined) return null
  return {
    model: '',
    vectors: [vector],
    usage: inputUsage(countAt(body, 'inputTextTokenCount') ?? countedByHeader(header)),
  }
}
