import { HeaderBlock, type Source } from '@portico/http'
import type { UpstreamResponse } from '@portico/http/client'
import { containedIn, follow } from '../pipeline/call/follow.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { CacheOutcome } from '../records/cache-outcome.ts'
import type { LlmRecord } from '../records/llm-record.ts'
import { type CacheableRequest, type CachedRequest, keptHeaders, type ProviderCache } from './provider-cache.ts'
import type { Follower, KeptHeaders, SharedCall, SimilarAnswer } from './shared-call.ts'

/** The bodies of a request that the cache decides by. */
export type CacheableBodies = Pick<CacheableRequest, 'original' | 'edited' | 'isStoredByDefault' | 'chat'>

export interface CachedCallParts {
  /** Asks the provider. */
  ask: () => void
  /** Handles a response that the provider was not asked for. */
  answer: (response: UpstreamResponse) => void
  /** Whether the client still waits, and no other provider was tried. */
  isCurrent: () => boolean
}

/** The call that the cache serves. */
export interface ModelCallRecord {
  readonly rx: RequestContext
  readonly record: LlmRecord
}

/** The part of the response cache in one try of a call: serves an answer, follows an equal call, or is followed. */
export class CachedCall implements Follower {
  readonly #call: ModelCallRecord
  readonly #cache: ProviderCache
  readonly #parts: CachedCallParts
  #shared: SharedCall | null = null
  #isLeader = false
  #hasLeft = false
  /** Whether the leader looks for a similar request before it asks. */
  #isSearching = false
  /** The greatest age of an answer that the client takes. */
  #maxAgeMs = Infinity

  constructor(cache: ProviderCache, call: ModelCallRecord, parts: CachedCallParts) {
    this.#cache = cache
    this.#call = call
    this.#parts = parts
  }

  begin(request: CacheableRequest): void {
    const read = this.#cache.read(request)
    if (typeof read !== 'string') return this.#find(request, read, null)
    this.#note({ status: 'bypass', ageSeconds: null, reason: read })
    this.#parts.ask()
  }

  /** `isAnswered` says whether the shared store has answered; null before it was asked. */
  #find(source: CacheableRequest, request: CachedRequest, isAnswered: boolean | null): void {
    const { answer } = this.#parts
    this.#maxAgeMs = request.control.maxAgeMs
    const found = this.#cache.find(request, isAnswered !== null)
    switch (found.kind) {
      case 'ask':
        return this.#findLater(source, request, found.isAnswered)
      case 'hit':
        this.#note({ status: 'hit', ageSeconds: Math.floor(found.ageMs / 1000), reason: null })
        return answer(this.#cache.replay(this.#call.rx, found))
      case 'lead':
        this.#shared = found.call
        this.#isLeader = true
        return this.#findSimilar(source, request, isAnswered === false ? MISS_WITHOUT_STORE : MISS)
      case 'follow':
        this.#shared = found.call
        // The age is known once the response has begun.
        this.#note(FOLLOWED)
        return found.call.join(this)
    }
  }

  #findLater(source: CacheableRequest, request: CachedRequest, isAnswered: Promise<boolean>): void {
    const { rx } = this.#call
    const found = isAnswered.then((answered) => {
      if (this.#parts.isCurrent()) containedIn(rx, () => this.#find(source, request, answered))
    })
    follow(rx, found)
  }

  /** The leader looks for the answer to a similar request before it asks; its followers wait as long. */
  #findSimilar(source: CacheableRequest, request: CachedRequest, miss: CacheOutcome): void {
    const { rx } = this.#call
    const { ask, isCurrent } = this.#parts
    this.#orAbandon(() => {
      const lookup = this.#cache.findSimilar(source, request)
      if (!(lookup instanceof Promise)) {
        this.#note(lookup === null ? miss : { ...miss, search: lookup.search })
        return ask()
      }
      this.#isSearching = true
      const found = lookup.then(
        ({ answer, search }) => {
          this.#isSearching = false
          if (!isCurrent()) return this.#shared?.abandon()
          this.#orAbandon(() => {
            if (answer !== null) return this.#serve(answer)
            this.#note({ ...miss, search })
            ask()
          })
        },
        (error: unknown) => {
          this.#shared?.abandon()
          throw error
        },
      )
      follow(rx, found)
    })
  }

  /**
   * Runs a part of the leader's call. An exception ends the leader's request and releases the requests that wait for
   * its response.
   */
  #orAbandon(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#shared?.abandon()
      throw error
    }
  }

  #serve(found: SimilarAnswer): void {
    const shared = this.#shared
    this.served(found)
    shared?.serve(found)
  }

  // The leader.

  /** Whether the call goes on although the client of the leader has left. */
  get goesOn(): boolean {
    return this.#hasLeft && this.#isLeader && this.#shared !== null && this.#shared.hasFollowers
  }

  /** Shares the response of the provider; returns it for the leader, or null when the leader has left. */
  share(response: UpstreamResponse): UpstreamResponse | null {
    if (!this.#isLeader || this.#shared === null) return response
    const { headers } = response
    const body = this.#shared.open(keptHeaders(headers), response.body)
    return body === null ? null : { status: response.status, headers, body }
  }

  /** Called when the provider gave no response that others could use. */
  abandon(): void {
    if (this.#isLeader) this.#shared?.abandon()
  }

  /** The client has left; `cancel` cancels the request to the provider. Returns whether that request goes on. */
  leave(cause: Error, cancel: (cause: Error) => void): boolean {
    this.#hasLeft = true
    if (this.#isSearching) {
      this.#shared?.abandon()
      return false
    }
    if (this.#isLeader) return this.#shared?.leaderLeft(cancel) ?? false
    this.#shared?.leave(this, cause)
    return false
  }

  /** Stores the response, which is complete. */
  commit(): void {
    this.#shared?.commit()
  }

  // A follower.

  opened(headers: KeptHeaders, body: Source): void {
    const { answer, isCurrent } = this.#parts
    if (!isCurrent()) return body.cancel(NOT_NEEDED)
    containedIn(this.#call.rx, () => answer({ status: 200, headers: HeaderBlock.of(headers), body }))
  }

  abandoned(): void {
    const { ask, isCurrent } = this.#parts
    if (!isCurrent()) return
    this.#shared = null
    this.#note(MISS)
    containedIn(this.#call.rx, ask)
  }

  served(found: SimilarAnswer): void {
    const { answer, isCurrent } = this.#parts
    const { rx } = this.#call
    const { ageMs, search } = found
    if (ageMs >= this.#maxAgeMs) return this.abandoned()
    if (!isCurrent()) return
    this.#shared = null
    this.#isLeader = false
    this.#note({ status: 'hit', ageSeconds: Math.floor(ageMs / 1000), reason: null, search })
    containedIn(rx, () => answer(this.#cache.replay(rx, found)))
  }

  takesOver(): void {
    const { rx, record } = this.#call
    record.cache = MISS
    record.addUsage(record.savedUsage)
    record.savedUsage = {}
    // A call that is under way is charged even if it exceeds the budget.
    follow(rx, rx.spending?.reserve(record))
    rx.trace?.emit({ type: 'llmCache', provider: record.providerName, status: 'miss', reason: 'takes-over' })
  }

  #note(outcome: CacheOutcome): void {
    const { rx, record } = this.#call
    const { status, ageSeconds, reason, search } = outcome
    record.cache = outcome
    record.cacheUses = this.#cache.uses
    rx.trace?.emit({ type: 'llmCache', provider: record.providerName, status, ageSeconds, reason, ...search })
  }
}

const NOT_NEEDED = new Error('the response is not needed')
const MISS: CacheOutcome = { status: 'miss', ageSeconds: null, reason: null }
/** The shared store did not answer, so another gateway may have the answer. */
const MISS_WITHOUT_STORE: CacheOutcome = { ...MISS, reason: 'store-unavailable' }
/** An answer that arrives while an equal request gets it has no age. */
const FOLLOWED: CacheOutcome = { status: 'hit', ageSeconds: 0, reason: null }
