import type {
  AnswerAddress,
  AnswerLimits,
  AnswerLookup,
  AnswerStore,
  StorableAnswer,
} from '../stores/answers/answer-store.ts'
import type { AnswerMemory } from './answer-memory.ts'

interface SharedAnswersParts {
  readonly store: AnswerStore
  readonly limits: AnswerLimits
  /** The name of the cache, the same in every gateway. */
  readonly cache: string
  readonly memory: AnswerMemory
  readonly now: () => number
  readonly isKept: (headerName: string) => boolean
  /** Called when an answer has come into the memory. */
  readonly taken: () => void
}

type AnswerPlace = Omit<AnswerAddress, 'cache'>

/**
 * The answers that a cache shares by a store. The memory of the worker is in front of the store: an answer in it is
 * served without a question to the store for `CHECK_MS`, which bounds how long a purge takes on other gateways.
 */
export class SharedAnswers {
  readonly #parts: SharedAnswersParts
  /** Lookups that are under way, by key. */
  readonly #lookups = new Map<string, Promise<boolean>>()

  constructor(parts: SharedAnswersParts) {
    this.#parts = parts
  }

  /** When an answer that is stored or found now should be looked up again. */
  get nextCheck(): number {
    return this.#parts.now() + CHECK_MS
  }

  /** Brings the memory up to date for one key; resolves with whether the store has answered. */
  lookUp(place: AnswerPlace): Promise<boolean> {
    const underWay = this.#lookups.get(place.key)
    if (underWay !== undefined) return underWay
    const { store, cache, limits, memory } = this.#parts
    const { purges } = memory
    const done = store.get({ cache, ...place }, limits.isEncrypted).then((lookup) => {
      this.#lookups.delete(place.key)
      // The answer may have been read before the purge.
      return this.#take(place, memory.purges === purges ? lookup : PURGED)
    })
    this.#lookups.set(place.key, done)
    return done
  }

  put(place: AnswerPlace, answer: StorableAnswer): void {
    const { store, cache, limits } = this.#parts
    store.put({ cache, ...place }, answer, limits)
  }

  #take(place: AnswerPlace, lookup: AnswerLookup): boolean {
    const { memory, limits, now, isKept, taken } = this.#parts
    switch (lookup.kind) {
      case 'unavailable':
        return false
      case 'absent': {
        const kept = memory.get(place.key, now())
        const isPurged = kept !== null && lookup.purgedMsAgo !== null && now() - kept.storedAt >= lookup.purgedMsAgo
        if (isPurged) memory.remove(place.key)
        else memory.checkLater(place.key, this.nextCheck)
        return true
      }
      case 'found': {
        const { answer, ageMs } = lookup
        const storedAt = now() - ageMs
        const headers = answer.headers.filter(([name]) => isKept(name))
        const kept = { ...place, expiresAt: storedAt + limits.ttlMs, checkAt: this.nextCheck }
        memory.put({ headers, body: answer.body, storedAt }, kept)
        taken()
        return true
      }
    }
  }
}

const PURGED: AnswerLookup = { kind: 'absent', purgedMsAgo: 0 }
const CHECK_MS = 60_000
