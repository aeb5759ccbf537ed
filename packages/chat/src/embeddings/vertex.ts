import { countAt, objectAt, objectsAt } from '@portico/http/json'
import { type JsonObject, type Loss, UnsupportedField } from '../middle.ts'
import type { EmbeddingRequest, Embeddings, EmbeddingUpstream } from './embedding.ts'
import { carryKnown, inputUsage, textsOf, isVector } from './translation.ts'

/** `:predict` of Vertex AI. */
export const vertexEmbeddings: EmbeddingUpstream = { encodeRequest, decodeResponse }

function encodeRequest(request: EmbeddingRequest, _model: string, losses: Loss[]): JsonObject | UnsupportedField {
  const texts = textsOf(request)
  if (texts instanceof UnsupportedField) return texts
  const { autoTruncate, ...instance } = carryKnown(request, KNOWN, losses)
  const parameters = {
    ...(autoTruncate !== undefined && { autoTruncate }),
    ...(request.dimensions !== undefined && { outputDimensionality: request.dimensions }),
  }
  return {
    instances: texts.map((content) => ({ content, task_type: 'RETRIEVAL_QUERY', ...instance })),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  }
}

const KNOWN = { task_type: 'task_type', title: 'title', auto_truncate: 'autoTruncate', autoTruncate: 'autoTruncate' }

function decodeResponse(body: JsonObject): Embeddings | null {
  const embeddings = objectsAt(body, 'predictions').map((prediction) => objectAt(prediction, 'embeddings'))
  const vectors = embeddings.map(({ values }) => values).filter(isVector)
  if (!Array.isArray(body.predictions) || vectors.length < body.predictions.length) return null
  const counts = embeddings.map((each) => countAt(objectAt(each, 'statistics'), 'token_count'))
  const counted = counts.filter((count) => count !== undefined)
  const total = counted.reduce((sum, count) => sum + count, 0)
  return { model: '', vectors, usage: inputUsage(counted.length === 0 ? undefined : total) }
}
