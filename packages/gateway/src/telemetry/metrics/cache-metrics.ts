import { increase, type Registry } from './metrics.ts'

/** The place of answers: in the memory of workers, or in the store that gateways share. */
type AnswerPlace = 'memory' | 'redis'

/** The fate of answers: they are stored, do not fit or are not taken, make room for others, or are purged. */
const answerEvents = ['stored', 'rejected', 'evicted', 'purged'] as const
type AnswerEvent = (typeof answerEvents)[number]

/** Counts what becomes of the answers in response caches. */
export interface CacheCounts {
  count(place: AnswerPlace, event: AnswerEvent, by?: number): void
  /** The memory of a worker has changed by this much. */
  resized(entries: number, bytes: number): void
}

/** Returns the counts of response caches; their series exist once a cache asks for them. */
export function createCacheMetrics(registry: Registry): () => CacheCounts {
  let counts: CacheCounts | null = null
  return () => (counts ??= createCounts(registry))
}

function createCounts(registry: Registry): CacheCounts {
  const { values } = registry
  const slots = new Map<string, number>()
  const slotOf = (place: AnswerPlace, event: AnswerEvent): number => {
    const name = `${place} ${event}`
    const slot = slots.get(name) ?? registry.slot('llm_cache_changes_total', [place, event])
    slots.set(name, slot)
    return slot
  }
  for (const event of answerEvents) slotOf('memory', event)
  const [entriesSlot, bytesSlot] = [registry.slot('llm_cache_entries', []), registry.slot('llm_cache_bytes', [])]
  return {
    count: (place, event, by = 1) => increase(values, slotOf(place, event), by),
    resized(entries, bytes) {
      increase(values, entriesSlot, entries)
      increase(values, bytesSlot, bytes)
    },
  }
}
