import { countAt, isObject, objectsAt, textAt } from '@portico/http/json'
import { lose } from '../request/carry-over.ts'
import type { JsonObject, Loss, Usage } from '../middle.ts'
import type { EmbeddingRequest, Embeddings, EmbeddingUpstream } from './embedding.ts'
import { isVector } from './translation.ts'

/** OpenAI's own form; settings that only Google's embeddings have are reported as losses. */
export const openaiEmbeddings: EmbeddingUpstream = { encodeRequest, decodeResponse }

function encodeRequest(request: EmbeddingRequest, model: string, losses: Loss[]): JsonObject {
  const { inputs, isSingle, dimensions, encoding, user, rest } = request
  const kept = { ...rest }
  for (const name of GOOGLE_SETTINGS) {
    if (!Object.hasOwn(kept, name)) continue
    delete kept[name]
    lose(losses, { what: 'dropped', path: name })
  }
  return {
    ...kept,
    model,
    input: isSingle ? (inputs[0] ?? '') : inputs,
    ...(dimensions !== undefined && { dimensions }),
    ...(encoding !== 'float' && { encoding_format: encoding }),
    ...(user !== null && { user }),
  }
}

/** OpenAI refuses requests with members that it does not know. */
const GOOGLE_SETTINGS = ['task_type', 'title', 'autoTruncate']

function decodeResponse(body: JsonObject): Embeddings | null {
  const data = objectsAt(body, 'data').toSorted(
    (one, other) => (countAt(one, 'index') ?? 0) - (countAt(other, 'index') ?? 0),
  )
  const vectors = data.map(({ embedding }) => embedding).filter((each) => typeof each === 'string' || isVector(each))
  if (!Array.isArray(body.data) || vectors.length < body.data.length) return null
  return { model: textAt(body, 'model') ?? '', vectors, usage: usageOf(body) }
}

function usageOf({ usage }: JsonObject): Usage | null {
  if (!isObject(usage)) return null
  const input = countAt(usage, 'prompt_tokens')
  const total = countAt(usage, 'total_tokens')
  return {
    ...(input !== undefined && { input, providerInput: input }),
    ...(total !== undefined && { providerTotal: total }),
  }
}
