import { objectsAt, textAt } from '@portico/http/json'
import { type JsonObject, type Loss, UnsupportedField } from '../middle.ts'
import { lose } from '../request/carry-over.ts'
import { type RankedDocument, type RerankUpstream, textOfDocument } from './rerank.ts'

/** `:rank` of Google's ranking API. The id of a record is its position in the client's list. */
export const vertexRerank: RerankUpstream = {
  encodeRequest({ query, documents, limit, rest }, { model }, losses: Loss[]): JsonObject | UnsupportedField {
    const records: JsonObject[] = []
    for (const [at, document] of documents.entries()) {
      const content = textOfDocument(document)
      if (content === null) return NO_TEXT
      const title = typeof document === 'string' ? undefined : textAt(document, 'title')
      records.push({ id: String(at), ...(title !== undefined && { title }), content })
    }
    for (const [name, value] of Object.entries(rest)) if (value !== null) lose(losses, { what: 'dropped', path: name })
    return {
      ...(model !== '' && { model }),
      query,
      records,
      ...(limit !== null && { topN: limit }),
      ignoreRecordDetailsInResponse: true,
    }
  },
  decodeResponse(body: JsonObject) {
    if (!Array.isArray(body.records)) return null
    const results: RankedDocument[] = []
    for (const record of objectsAt(body, 'records')) {
      const id = textAt(record, 'id') ?? ''
      // A score of 0 is left out, as all defaults are in this vendor's JSON.
      const score = record.score ?? 0
      if (!/^\d{1,9}$/.test(id) || typeof score !== 'number') return null
      results.push({ index: Number(id), score })
    }
    return { id: '', results, usage: null, nextToken: null }
  },
}

const NO_TEXT = new UnsupportedField('documents', 'this provider takes texts, or objects with the text in `text`')
