import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { CacheSearch } from '../../records/cache-outcome.ts'
import type { ComparableRequest } from './comparable-request.ts'
import type { Embedder } from './embedder.ts'
import type { NearestNeighbor, NeighborIndex } from './neighbor-index.ts'
import type { UnitVector } from './unit-vector.ts'

interface SemanticSearchParts {
  readonly embedder: Embedder
  readonly threshold: number
  /** The most answers that a request is compared with. */
  readonly maxEntries: number
  /** The longest text, in characters. */
  readonly maxCharacters: number
  readonly index: NeighborIndex
}

/** The position of a request among those that it may be compared with. */
export interface SemanticPosition {
  readonly partition: string
  readonly vector: UnitVector
  /** The id of the record of the request. */
  readonly recordId: string | null
}

/** The result of a search: the nearest request, if its answer may be served, and the position for the own answer. */
interface SearchResult {
  readonly nearest: NearestNeighbor | null
  /** Null when there is no embedding. */
  readonly position: SemanticPosition | null
  readonly search: CacheSearch
}

interface SearchContext {
  readonly rx: RequestContext
  readonly recordId: string | null
  /** Returns the name of the partition of a space. */
  readonly partitionOf: (space: string) => string
  /** Whether the answer with this key may be served. */
  readonly isUsable: (key: string) => boolean
}

/** Finds answers to requests that differ from others in the wording of the last message only. */
export class SemanticSearch {
  readonly #parts: SemanticSearchParts

  constructor(parts: SemanticSearchParts) {
    this.#parts = parts
  }

  /** Names the config of the embeddings. */
  get fingerprint(): readonly string[] {
    return this.#parts.embedder.fingerprint
  }

  get maxCharacters(): number {
    return this.#parts.maxCharacters
  }

  async find({ text }: ComparableRequest, context: SearchContext): Promise<SearchResult> {
    const { embedder, index, threshold } = this.#parts
    const embedding = await embedder.embed(context.rx, text)
    if (typeof embedding === 'string') return { nearest: null, position: null, search: { skipped: embedding } }
    const { vector, space } = embedding
    const partition = context.partitionOf(space)
    const position = { partition, vector, recordId: context.recordId }
    const nearest = index.nearest(partition, { vector, floor: threshold - NEAR_MISS }, context.isUsable)
    if (nearest === null) return { nearest: null, position, search: {} }
    const { similarity, neighbor } = nearest
    const search = {
      similarity: Math.floor(similarity * 1e4) / 1e4,
      ...(neighbor.recordId !== null && { neighbor: neighbor.recordId }),
    }
    if (similarity < threshold) return { nearest: null, position, search }
    index.use(partition, neighbor)
    return { nearest, position, search }
  }

  /** Makes a stored answer a neighbor of later requests. `evict` removes the answer with this key. */
  attach({ partition, vector, recordId }: SemanticPosition, key: string, evict: (key: string) => void) {
    const { index, maxEntries } = this.#parts
    for (let size = index.sizeOf(partition); size >= maxEntries; size -= 1) {
      const oldest = index.oldestOf(partition)
      if (oldest !== null) evict(oldest)
    }
    return index.add(partition, { key, vector, recordId })
  }
}

/** How much less similar than the threshold a request may be to be reported. */
const NEAR_MISS = 0.05
