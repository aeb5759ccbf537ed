import { bedrockRerank } from './bedrock.ts'
import { cohereRerank, decodeRanking } from './native.ts'
import type { RerankUpstream } from './rerank.ts'
import { vertexRerank } from './vertex.ts'

export type { RankedDocument, Ranking, RerankRequest, RerankUpstream } from './rerank.ts'
export { decodeRerankRequest, encodeRanking, searchUnitsOf } from './client.ts'
export { encodeRerankError } from './errors.ts'
export { decodeRanking }

/** The formats that requests are translated to. */
export const rerankUpstreams = {
  cohere: cohereRerank,
  bedrock: bedrockRerank,
  vertex: vertexRerank,
} satisfies Record<string, RerankUpstream>
