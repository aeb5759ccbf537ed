import type { Json, JsonObject, UnsupportedField } from '../middle.ts'
import { camelFields, inSnakeCase, objectIn, objectsIn } from '../formats/gemini/client/spelling.ts'
import { contentTexts } from '../formats/gemini/client/request-texts.ts'
import type { Fields } from '../request/fields.ts'
import { list, object, plain, type Reading, settings, text } from '../texts/request-texts.ts'
import type { EmbeddingRequest, Embeddings } from './embedding.ts'
import { encodeVector } from './translation.ts'

/** `embedContent` and `batchEmbedContents` of Google's API; the body has the model of the path as `model`. */
export function decodeGeminiEmbeddings(body: JsonObject, isBatch: boolean): EmbeddingRequest | UnsupportedField {
  const fields = camelFields(body)
  const model = fields.text('model') ?? ''
  const entries = isBatch ? objectsIn(fields, 'requests').map(readEntry) : [readEntry(fields)]
  const inputs = entries.map(({ input }) => input)
  const [first] = entries
  if (first === undefined) fields.fail('requests', 'a list of requests')
  const isMixed = entries.some(({ settings: own }) => JSON.stringify(own) !== JSON.stringify(first?.settings))
  if (isMixed) fields.failWith('requests[]', 'must all have the same settings for this provider')
  if (fields.fault !== null) return fields.fault
  const { outputDimensionality: dimensions, ...rest } = first?.settings ?? {}
  return {
    model,
    inputs,
    isSingle: !isBatch,
    ...(typeof dimensions === 'number' && { dimensions }),
    encoding: 'float',
    user: null,
    rest: { ...(isBatch && fields.rest()), ...rest },
  }
}

/** The text of one request, and its other members under the names that Vertex AI gives them. */
function readEntry(entry: Fields): { input: string; settings: JsonObject } {
  entry.take('model')
  const content = objectIn(entry, 'content')
  if (content === undefined) entry.fail('content', 'an object')
  const parts = content === undefined ? [] : objectsIn(content, 'parts')
  const texts = parts.map(
    (part) => part.text('text') ?? part.failWith('text', 'must be a text for this provider') ?? '',
  )
  const dimensions = entry.number('outputDimensionality')
  const type = entry.text('taskType')
  const title = entry.text('title')
  const settings: JsonObject = {
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    ...(type !== undefined && { task_type: type }),
    ...(title !== undefined && { title }),
    ...entry.rest(),
  }
  return { input: texts.join('\n'), settings }
}

export function encodeGeminiEmbeddings({ vectors, usage }: Embeddings, isBatch: boolean): JsonObject {
  const embeddings: Json[] = vectors.map((vector) => ({ values: encodeVector(vector, 'float') }))
  const counted: JsonObject = usage?.input === undefined ? {} : { usageMetadata: { promptTokenCount: usage.input } }
  return isBatch ? { embeddings, ...counted } : { embedding: embeddings[0] ?? { values: [] }, ...counted }
}

const members: Readonly<Record<string, Reading>> = {
  model: plain,
  content: contentTexts,
  taskType: settings,
  title: text,
  outputDimensionality: plain,
}
const known = Object.fromEntries(
  Object.entries(members).flatMap(([name, reading]) => [
    [name, reading],
    [inSnakeCase(name), reading],
  ]),
)

/** The texts in the body of both calls. */
export const geminiEmbeddingTexts: Reading = object({ ...known, requests: list(object(known)) })
