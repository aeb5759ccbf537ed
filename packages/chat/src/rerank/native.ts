import { countAt, objectAt, objectsAt, textAt } from '@portico/http/json'
import type { JsonObject, Usage } from '../middle.ts'
import { lose } from '../request/carry-over.ts'
import type { RankedDocument, Ranking, RerankRequest, RerankUpstream } from './rerank.ts'
import { textOfDocument } from './rerank.ts'
import { type Loss, UnsupportedField } from '../middle.ts'

/** Cohere's second version, for clients of other formats. */
export const cohereRerank: RerankUpstream = {
  encodeRequest({ query, documents, limit, rest }: RerankRequest, { model }, losses: Loss[]) {
    const texts = documents.map(textOfDocument).filter((text) => text !== null)
    if (texts.length < documents.length) return NO_TEXT
    const kept: JsonObject = {}
    for (const [name, value] of Object.entries(rest)) {
      if (COHERE.has(name)) kept[name] = value
      else if (value !== null) lose(losses, { what: 'dropped', path: name })
    }
    return { model, query, documents: texts, ...(limit !== null && { top_n: limit }), ...kept }
  },
  decodeResponse: decodeRanking,
}

const COHERE: ReadonlySet<string> = new Set(['max_tokens_per_doc', 'priority'])
const NO_TEXT = new UnsupportedField('documents', 'this provider takes texts, or objects with the text in `text`')

/** Reads a response of Cohere, Jina or Voyage. */
export function decodeRanking(body: JsonObject): Ranking | null {
  const list = Array.isArray(body.results) ? objectsAt(body, 'results') : objectsAt(body, 'data')
  if (!Array.isArray(body.results) && !Array.isArray(body.data)) return null
  const results: RankedDocument[] = []
  for (const each of list) {
    const [index, score] = [countAt(each, 'index'), each.relevance_score]
    if (index === undefined || typeof score !== 'number') return null
    results.push({ index, score })
  }
  return { id: textAt(body, 'id') ?? '', results, usage: usageOf(body), nextToken: null }
}

/** The tokens that Jina and Voyage report, and the search units of Cohere. */
function usageOf(body: JsonObject): Usage | null {
  const reported = objectAt(body, 'usage')
  const meta = objectAt(body, 'meta')
  const tokens =
    countAt(reported, 'total_tokens') ??
    countAt(reported, 'prompt_tokens') ??
    countAt(objectAt(meta, 'tokens'), 'input_tokens')
  const units = countAt(objectAt(meta, 'billed_units'), 'search_units')
  if (tokens === undefined && units === undefined) return null
  return {
    ...(tokens !== undefined && { input: tokens, providerInput: tokens, providerTotal: tokens }),
    ...(units !== undefined && { searchUnits: units }),
  }
}
