import { cohereEmbeddings } from './cohere.ts'
import type { EmbeddingUpstream } from './embedding.ts'
import { novaEmbeddings } from './nova.ts'
import { openaiEmbeddings } from './openai.ts'
import { titanEmbeddings } from './titan.ts'
import { vertexEmbeddings } from './vertex.ts'

export type { EmbeddingRequest, Embeddings, EmbeddingUpstream } from './embedding.ts'
export { joinEmbeddings, requestsOf } from './translation.ts'
export { decodeEmbeddingRequest, encodeEmbeddings } from './client.ts'
export { decodeGeminiEmbeddings, encodeGeminiEmbeddings, geminiEmbeddingTexts } from './gemini-client.ts'

/** The forms of embeddings that providers speak. */
export const embeddingUpstreams = {
  openai: openaiEmbeddings,
  vertex: vertexEmbeddings,
  titan: titanEmbeddings,
  cohere: cohereEmbeddings,
  nova: novaEmbeddings,
} satisfies Record<string, EmbeddingUpstream>
