import { Deadline, type Deadlines } from '@portico/http'
import type { AnswerSelection } from '../stores/answers/answer-store.ts'
import type { CacheCounts } from '../telemetry/metrics/cache-metrics.ts'
import { BodyDigests } from './cache-key.ts'
import { AnswerMemory, type MemoryFigures } from './answer-memory.ts'
import { NeighborIndex } from './semantic/neighbor-index.ts'
import { CacheUses } from './cache-uses.ts'
import type { SharedCall } from './shared-call.ts'

/** One cache: its stored answers, and the calls that are under way. */
export interface NamedCache {
  readonly memory: AnswerMemory
  readonly calls: Map<string, SharedCall>
  /** The vectors of requests whose answers are in the memory. */
  readonly neighbors: NeighborIndex
  readonly uses: CacheUses
  /** Whether the policy shares the answers. */
  isShared: boolean
}

/** All caches of one worker. They outlive config reloads; expired answers are removed every minute. */
export class CacheRegistry {
  readonly digests = new BodyDigests()
  readonly #caches = new Map<string, NamedCache>()
  readonly #deadlines: Deadlines
  readonly #now: () => number
  readonly #counts: CacheCounts
  readonly #sweep = new Deadline(() => this.#removeExpired())

  constructor(deadlines: Deadlines, now: () => number, counts: CacheCounts) {
    this.#counts = counts
    this.#deadlines = deadlines
    this.#now = now
  }

  /** Returns the cache of this name, with this size from now on. */
  cache(name: string, maxBytes: number): NamedCache {
    const known = this.#caches.get(name)
    known?.memory.resize(maxBytes)
    const memory = known?.memory ?? new AnswerMemory(maxBytes, this.#counts)
    const cache = known ?? {
      memory,
      calls: new Map<string, SharedCall>(),
      neighbors: new NeighborIndex(),
      uses: new CacheUses(),
      isShared: false,
    }
    this.#caches.set(name, cache)
    return cache
  }

  /** Called when an answer was stored. */
  stored(): void {
    if (!this.#sweep.isSet) this.#deadlines.set(this.#sweep, SWEEP_MS)
  }

  get figures(): readonly MemoryFigures[] {
    return [...this.#caches.values()].map(({ memory }) => memory.figures)
  }

  /** The caches by name. */
  get caches(): ReadonlyMap<string, NamedCache> {
    return this.#caches
  }

  /** Removes the answers of a selection from the memory of this worker; returns their number. */
  purge(selection: AnswerSelection): number {
    let purged = 0
    for (const [name, { memory, calls }] of this.#caches) {
      if (selection !== 'all' && 'cache' in selection && selection.cache !== name) continue
      // A request that comes after the purge does not follow a call from before.
      calls.clear()
      purged += memory.purge(selection)
    }
    return purged
  }

  #removeExpired(): void {
    const now = this.#now()
    for (const { memory } of this.#caches.values()) memory.removeExpired(now)
    if (this.figures.some(({ entries }) => entries > 0)) this.#deadlines.set(this.#sweep, SWEEP_MS)
  }
}

/** The key of the registry among the objects that outlive reloads. */
export const REGISTRY_KEY = 'response caches'
const SWEEP_MS = 60_000
