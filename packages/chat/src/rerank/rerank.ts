import type { Json, JsonObject, Loss, UnsupportedField, Usage } from '../middle.ts'

/** The middle format of rerank calls. Clients speak the format of Cohere, Jina or Voyage; providers speak one of several. */

export interface RerankRequest {
  model: string
  query: string
  documents: RerankDocument[]
  /** The number of results; null for all documents. */
  limit: number | null
  /** Whether results repeat their document. */
  returnsDocuments: boolean
  client: RerankClient
  /** The other members of the client's request; some providers support some of them. */
  rest: JsonObject
}

/** A text, or an object of named texts. */
export type RerankDocument = string | JsonObject

/**
 * The format of the client's response: `cohere` has `results`, as Jina's has, and `voyage` has `data`.
 */
type RerankClient = 'cohere' | 'voyage'

export interface Ranking {
  /** Empty when the provider gives none. */
  id: string
  results: RankedDocument[]
  usage: Usage | null
  /** The token for a further request for the rest of the results; null when these are all. */
  nextToken: string | null
}

export interface RankedDocument {
  index: number
  score: number
}

/** The properties of the provider that an encoder needs. */
export interface RerankTarget {
  model: string
  /** The region of the provider; empty when it has none. */
  region: string
  /** The token of the previous response, for its rest. */
  nextToken: string | null
}

/** A rerank format that providers speak. */
export interface RerankUpstream {
  /** Adds to `losses` every field that this format cannot express. */
  encodeRequest(request: RerankRequest, target: RerankTarget, losses: Loss[]): JsonObject | UnsupportedField
  /** Decodes a response; null when the body is not a response of this format. */
  decodeResponse(body: JsonObject): Ranking | null
}

/** The text of a document; null for an object without one. */
export function textOfDocument(document: Json): string | null {
  if (typeof document === 'string') return document
  const text = document !== null && typeof document === 'object' && !Array.isArray(document) ? document.text : null
  return typeof text === 'string' ? text : null
}
