import { contained } from '@portico/http/faults'
import type { Source } from '@portico/http'
import type { CacheSearch } from '../records/cache-outcome.ts'
import { type BodyReader, type Room, SharedBody } from './shared-body.ts'

/** The headers of an answer that stay with it in the cache. */
export type KeptHeaders = readonly (readonly [name: string, value: string])[]

/** A request that waits for the response to an equal one. */
export interface Follower {
  /** The provider has begun a response with status 200. */
  opened(headers: KeptHeaders, body: Source): void
  /** No response will come: the request must ask the provider itself. */
  abandoned(): void
  /** The answer to a similar request is served. */
  served(answer: SimilarAnswer): void
  /** The request that asked the provider has lost its client: this one pays for the call. */
  takesOver(): void
}

/** A stored answer to a similar request. */
export interface SimilarAnswer {
  readonly headers: KeptHeaders
  readonly body: Buffer
  readonly ageMs: number
  readonly search: CacheSearch
}

interface SharedCallParts {
  room: Room
  /** Called once, when no other request can follow anymore. */
  closed: () => void
  store: (headers: KeptHeaders, body: Buffer) => void
}

/**
 * A call to a provider whose response several requests read: the leader, which asked, and its followers. The call goes
 * on without the leader while a follower is left. A response that breaks off breaks off for all of them.
 */
export class SharedCall {
  readonly #parts: SharedCallParts
  /** Followers that wait for the response to begin. */
  readonly #waiting = new Set<Follower>()
  readonly #following = new Map<BodyReader, Follower>()
  #headers: KeptHeaders = []
  /** Null until the response begins. */
  #body: SharedBody | null = null
  #isAbandoned = false
  #isClosed = false
  /** Cancels the call of a leader whose client has left; null while the client is there. */
  #cancel: ((cause: Error) => void) | null = null
  #payer: Follower | null = null

  constructor(parts: SharedCallParts) {
    this.#parts = parts
  }

  get hasFollowers(): boolean {
    return this.#waiting.size > 0 || this.#following.size > 0
  }

  /** Begins the response; returns the body for the leader, or null when the leader has left. */
  open(headers: KeptHeaders, source: Source): Source | null {
    const body = new SharedBody(source, this.#parts.room, {
      closed: () => this.#close(),
      left: (reader, cause) => this.#left(reader, cause),
    })
    this.#headers = headers
    this.#body = body
    const leader = this.#cancel === null ? body.addReader() : null
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    // All of them are readers before the first one reads, so that no chunk is dropped.
    const readers = waiting.map((follower) => [follower, this.#addReader(body, follower)] as const)
    for (const [follower, reader] of readers) contained('request', () => follower.opened(headers, reader))
    return leader
  }

  /** Ends a call that has no response for others. */
  abandon(): void {
    this.#dismiss((follower) => follower.abandoned())
  }

  /** Ends a call before it was sent, because there is an answer to a similar request. */
  serve(answer: SimilarAnswer): void {
    this.#dismiss((follower) => follower.served(answer))
  }

  #dismiss(tell: (follower: Follower) => void): void {
    if (this.#body !== null || this.#isAbandoned) return
    this.#isAbandoned = true
    this.#close()
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const follower of waiting) contained('request', () => tell(follower))
  }

  /** The leader has lost its client; returns whether the call goes on for a follower, who pays from now on. */
  leaderLeft(cancel: (cause: Error) => void): boolean {
    if (!this.hasFollowers || this.#body?.ending === null) {
      this.abandon()
      return false
    }
    this.#cancel = cancel
    this.#choosePayer()
    return true
  }

  /** Stores the answer, once a reader has found it complete and without an error. */
  commit(): void {
    const whole = this.#body?.whole ?? null
    if (whole === null) return
    this.#body?.release()
    this.#parts.store(this.#headers, whole)
  }

  /** Adds a follower; only while the call is open to others. */
  join(follower: Follower): void {
    if (this.#body === null) {
      this.#waiting.add(follower)
      return
    }
    const reader = this.#addReader(this.#body, follower)
    follower.opened(this.#headers, reader)
  }

  /** The client of a waiting follower has left. */
  leave(follower: Follower, cause: Error): void {
    if (!this.#waiting.delete(follower)) return
    if (follower === this.#payer) this.#choosePayer()
    if (this.#cancel === null || this.hasFollowers) return
    this.#isAbandoned = true
    this.#close()
    this.#cancel(cause)
  }

  #addReader(body: SharedBody, follower: Follower): BodyReader {
    const reader = body.addReader()
    this.#following.set(reader, follower)
    return reader
  }

  #left(reader: BodyReader, cause: Error): void {
    const follower = this.#following.get(reader)
    this.#following.delete(reader)
    if (this.#body?.ending !== undefined) return
    if (follower !== undefined && follower === this.#payer) this.#choosePayer()
    if (this.#body?.hasReaders === false) this.#body.cancel(cause)
    else this.#body?.resumeIfWanted()
  }

  #choosePayer(): void {
    const [payer] = [...this.#waiting, ...this.#following.values()]
    this.#payer = payer ?? null
    if (payer !== undefined) contained('request', () => payer.takesOver())
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#parts.closed()
  }
}
