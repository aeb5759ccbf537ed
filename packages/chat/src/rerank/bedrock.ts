import { countAt, objectsAt, textAt } from '@portico/http/json'
import type { JsonObject, Loss } from '../middle.ts'
import { lose } from '../request/carry-over.ts'
import type { RankedDocument, RerankDocument, RerankRequest, RerankTarget, RerankUpstream } from './rerank.ts'

/** `/rerank` of the agent runtime of Bedrock. Its results may come in several responses. */
export const bedrockRerank: RerankUpstream = {
  encodeRequest(
    { query, documents, limit, rest }: RerankRequest,
    { model, region, nextToken }: RerankTarget,
    losses: Loss[],
  ): JsonObject {
    const additional: JsonObject = {}
    for (const [name, value] of Object.entries(rest)) {
      // Models of Cohere take the members of Cohere's own format.
      if (name === 'max_tokens_per_doc' && model.includes('cohere.')) additional[name] = value
      else if (value !== null) lose(losses, { what: 'dropped', path: name })
    }
    const modelConfiguration = {
      modelArn: arnOf(model, region),
      ...(Object.keys(additional).length > 0 && { additionalModelRequestFields: additional }),
    }
    const results = { ...(limit !== null && { numberOfResults: Math.min(limit, documents.length) }) }
    return {
      queries: [{ type: 'TEXT', textQuery: { text: query } }],
      sources: documents.map(sourceOf),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: { modelConfiguration, ...results },
      },
      ...(nextToken !== null && { nextToken }),
    }
  },
  decodeResponse(body: JsonObject) {
    if (!Array.isArray(body.results)) return null
    const results: RankedDocument[] = []
    for (const each of objectsAt(body, 'results')) {
      const [index, score] = [countAt(each, 'index'), each.relevanceScore]
      if (index === undefined || typeof score !== 'number') return null
      results.push({ index, score })
    }
    return { id: '', results, usage: null, nextToken: textAt(body, 'nextToken') ?? null }
  },
}

function sourceOf(document: RerankDocument): JsonObject {
  if (typeof document !== 'string') {
    return { type: 'INLINE', inlineDocumentSource: { type: 'JSON', jsonDocument: document } }
  }
  return { type: 'INLINE', inlineDocumentSource: { type: 'TEXT', textDocument: { text: document } } }
}

function arnOf(model: string, region: string): string {
  if (model.startsWith('arn:')) return model
  const partition = region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
  return `arn:${partition}:bedrock:${region}::foundation-model/${model}`
}
