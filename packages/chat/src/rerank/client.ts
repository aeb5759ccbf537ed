import { isObject } from '@portico/http/json'
import { Fields } from '../request/fields.ts'
import type { Json, JsonObject, UnsupportedField } from '../middle.ts'
import type { Ranking, RerankDocument, RerankRequest } from './rerank.ts'

/** Reads a request in the format of Cohere, Jina or Voyage. Voyage's SDK always sends `truncation` and `top_k`. */
export function decodeRerankRequest(body: JsonObject): RerankRequest | UnsupportedField {
  const fields = new Fields(body)
  const client = Object.hasOwn(body, 'top_k') || Object.hasOwn(body, 'truncation') ? 'voyage' : 'cohere'
  const query = fields.text('query')
  if (query === undefined) fields.fail('query', 'a text')
  const documents = documentsOf(fields.take('documents'))
  if (documents === null) fields.fail('documents', 'a list of texts or of objects')
  const limit = fields.number(client === 'voyage' ? 'top_k' : 'top_n')
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    fields.fail(client === 'voyage' ? 'top_k' : 'top_n', 'a number above 0')
  }
  const request: RerankRequest = {
    model: fields.text('model') ?? '',
    query: query ?? '',
    documents: documents ?? [],
    limit: limit ?? null,
    returnsDocuments: fields.boolean('return_documents') ?? false,
    client,
    rest: fields.rest() ?? {},
  }
  return fields.fault ?? request
}

function documentsOf(value: Json | undefined): RerankDocument[] | null {
  if (!Array.isArray(value)) return null
  const documents = value.filter((each) => typeof each === 'string' || isObject(each))
  return documents.length === value.length ? documents : null
}

/** Encodes a ranking in the client's format. A response with `results` has the members of Cohere's and of Jina's. */
export function encodeRanking({ id, results, usage }: Ranking, request: RerankRequest): JsonObject {
  const { client, model, returnsDocuments } = request
  const limit = request.limit ?? results.length
  const ranked = results.toSorted((one, other) => other.score - one.score).slice(0, limit)
  const list = ranked.map(({ index, score }) => {
    const document = request.documents[index] ?? ''
    const shown = client === 'cohere' && typeof document === 'string' ? { text: document } : document
    return { index, relevance_score: score, ...(returnsDocuments && { document: shown }) }
  })
  const total = usage?.input
  const tokens = { ...(total !== undefined && { usage: { total_tokens: total } }) }
  if (client === 'voyage') return { object: 'list', data: list, model, ...tokens }
  const units = usage?.searchUnits ?? searchUnitsOf(request.documents)
  const meta = { api_version: { version: '2' }, billed_units: { search_units: units } }
  return { id, results: list, model, ...tokens, meta }
}

/** The search units of a request as Cohere counts them: one for each hundred documents that were begun. */
export function searchUnitsOf(documents: readonly unknown[]): number {
  return Math.max(1, Math.ceil(documents.length / DOCUMENTS_PER_UNIT))
}

const DOCUMENTS_PER_UNIT = 100
