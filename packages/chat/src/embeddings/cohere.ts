import { countAt, isObject, objectAt } from '@portico/http/json'
import { type JsonObject, type Loss, UnsupportedField } from '../middle.ts'
import type { EmbeddingRequest, Embeddings, EmbeddingUpstream } from './embedding.ts'
import { carryKnown, countedByHeader, inputUsage, textsOf, isVector } from './translation.ts'

/** Cohere on Bedrock. */
export const cohereEmbeddings: EmbeddingUpstream = { encodeRequest, decodeResponse }

function encodeRequest(request: EmbeddingRequest, model: string, losses: Loss[]): JsonObject | UnsupportedField {
  const texts = textsOf(request)
  if (texts instanceof UnsupportedField) return texts
  const { dimensions } = request
  if (dimensions !== undefined && !model.includes('embed-v4')) {
    return new UnsupportedField('dimensions', 'this model has one vector size: remove dimensions')
  }
  return {
    texts,
    input_type: 'search_query',
    ...(dimensions !== undefined && { output_dimension: dimensions }),
    ...carryKnown(request, KNOWN, losses),
  }
}

const KNOWN = { input_type: 'input_type', truncate: 'truncate' }

/** A list of vectors, or lists by their type. */
function decodeResponse(body: JsonObject, header: (name: string) => string | undefined): Embeddings | null {
  const { embeddings } = body
  const lists = isObject(embeddings) ? embeddings.float : embeddings
  const vectors = Array.isArray(lists) ? lists.filter(isVector) : []
  if (!Array.isArray(lists) || vectors.length < lists.length) return null
  const billed = countAt(objectAt(objectAt(body, 'meta'), 'billed_units'), 'input_tokens')
  return { model: '', vectors, usage: inputUsage(countedByHeader(header) ?? billed) }
}
