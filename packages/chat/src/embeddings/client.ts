import { Fields } from '../request/fields.ts'
import type { Json, JsonObject, UnsupportedField } from '../middle.ts'
import type { EmbeddingInput, EmbeddingRequest, Embeddings } from './embedding.ts'
import { encodeVector, isVector } from './translation.ts'

export function decodeEmbeddingRequest(body: JsonObject): EmbeddingRequest | UnsupportedField {
  const fields = new Fields(body)
  const input = fields.take('input')
  const inputs = inputsOf(input)
  if (inputs === null) fields.fail('input', 'a text, a list of texts, or tokens')
  const dimensions = fields.number('dimensions')
  const encoding = fields.text('encoding_format') ?? 'float'
  if (encoding !== 'float' && encoding !== 'base64') fields.fail('encoding_format', 'float or base64')
  const request: EmbeddingRequest = {
    model: fields.text('model') ?? '',
    inputs: inputs ?? [],
    isSingle: typeof input === 'string' || (isVector(input) && input.length > 0),
    encoding: encoding === 'base64' ? encoding : 'float',
    user: fields.text('user') ?? null,
    rest: {},
  }
  if (dimensions !== undefined) request.dimensions = dimensions
  request.rest = fields.rest() ?? {}
  return fields.fault ?? request
}

function inputsOf(input: Json | undefined): EmbeddingInput[] | null {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input)) return null
  if (input.length > 0 && isVector(input)) return [input]
  const inputs = input.filter((each) => typeof each === 'string' || isVector(each))
  return inputs.length === input.length ? inputs : null
}

export function encodeEmbeddings({ model, vectors, usage }: Embeddings, request: EmbeddingRequest): JsonObject {
  const input = usage?.input ?? 0
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encodeVector(vector, request.encoding),
    })),
    model: model || request.model,
    usage: { prompt_tokens: input, total_tokens: usage?.providerTotal ?? input },
  }
}
