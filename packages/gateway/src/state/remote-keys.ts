import { readJwkSet } from '../formats/jwk-set.ts'
import { KeySet } from './key-set.ts'

export interface FetchedKeys {
  text: string
  /** How long the keys may be used before they are fetched again. */
  lifetimeMs: number
}

interface RemoteKeysOptions<Asker> {
  /** Rejects when the keys cannot be fetched; settles within a bounded time. */
  fetch: (asker: Asker | null) => Promise<FetchedKeys>
  monotonic: () => number
  /** Uniform in [0, 1). */
  random: () => number
  /** Called with the reason when a fetch fails. */
  failed: (reason: string) => void
}

/** Keys that are fetched on demand: one fetch at a time, and the last good set stays in use when a fetch fails. */
export class RemoteKeys<Asker = never> {
  /** The current fetch function; a reload may replace the client of the same source. */
  fetch: RemoteKeysOptions<Asker>['fetch']
  readonly #options: RemoteKeysOptions<Asker>
  #keys: KeySet | null = null
  #text = ''
  #underWay: Promise<KeySet | null> | null = null
  #startedAt = -Infinity
  /** From this time on, a fetch runs in the background. */
  #refreshAt = -Infinity
  /** From this time on, callers wait for the fetch, so that revoked keys do not stay in use. */
  #staleAt = -Infinity
  /** The earliest time of the next fetch after failures. */
  #retryAt = -Infinity
  #failures = 0

  constructor(options: RemoteKeysOptions<Asker>) {
    this.#options = options
    this.fetch = options.fetch
  }

  /**
   * Returns the keys, a promise only while there are no usable keys, or null when they cannot be fetched. `asker` is
   * passed to a fetch that this call starts.
   */
  current(asker: Asker | null = null): KeySet | null | Promise<KeySet | null> {
    const now = this.#options.monotonic()
    if (now < this.#refreshAt) return this.#keys
    if (this.#underWay === null && now >= this.#retryAt) void this.#start(now, asker)
    return this.#underWay === null || (this.#keys !== null && now < this.#staleAt) ? this.#keys : this.#underWay
  }

  /**
   * Fetches the keys again for a key id that is not in the set, because the key may be new. Returns null when the last
   * fetch was too recent.
   */
  renewed(asker: Asker | null = null): Promise<KeySet | null> | null {
    if (this.#underWay !== null) return this.#underWay
    const now = this.#options.monotonic()
    if (now < this.#startedAt + COOLDOWN_MS || now < this.#retryAt) return null
    return this.#start(now, asker)
  }

  #start(now: number, asker: Asker | null): Promise<KeySet | null> {
    this.#startedAt = now
    this.#underWay = this.#run(asker).finally(() => (this.#underWay = null))
    return this.#underWay
  }

  /** Never rejects: many requests may wait for the result. */
  async #run(asker: Asker | null): Promise<KeySet | null> {
    try {
      this.#take(await this.fetch(asker))
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error))
    }
    return this.#keys
  }

  #take({ text, lifetimeMs }: FetchedKeys): void {
    // The same text keeps the same set object, so that cached verifications stay valid.
    if (text !== this.#text || this.#keys === null) {
      const read = readJwkSet(text)
      if ('fault' in read) throw new Error(`the answer has ${read.fault}`)
      const keys = KeySet.of(read.keys)
      if (keys === null) throw new Error('the answer has no key that can be used')
      this.#keys = keys
      this.#text = text
    }
    const now = this.#options.monotonic()
    this.#failures = 0
    this.#staleAt = now + lifetimeMs
    this.#refreshAt = now + lifetimeMs * (0.7 + 0.2 * this.#options.random())
  }

  #fail(reason: string): void {
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS)
    this.#failures++
    this.#retryAt = this.#options.monotonic() + pause * (0.5 + 0.5 * this.#options.random())
    this.#options.failed(reason)
  }
}

/** Tokens with made-up key ids must not cause a flood of fetches at the issuer. A new key is found after this time. */
const COOLDOWN_MS = 1_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
