import { readJwkSet } from '../formats/jwk-set.ts'
import { KeySet } from './key-set.ts'

export interface FetchedKeys {
  text: string
  /** How long the keys may be used before they are fetched again. */
  lifetimeMs: number
}

export interface RemoteKeysOptions<Asker> {
  /** Rejects when the keys cannot be had; ends within a bounded time. */
  fetch: (asker: Asker | null) => Promise<FetchedKeys>
  monotonic: () => number
  /** Uniform in [0, 1). */
  random: () => number
  /** Told why keys could not be had. */
  failed: (reason: string) => void
}

/** Keys that are fetched when somebody needs them: one fetch at a time, and the last good set stays when one fails. */
export class RemoteKeys<Asker = never> {
  /** The newest way to get them; a reload may bring another client for the same source. */
  fetch: RemoteKeysOptions<Asker>['fetch']
  readonly #options: RemoteKeysOptions<Asker>
  #keys: KeySet | null = null
  #text = ''
  #underWay: Promise<KeySet | null> | null = null
  #startedAt = -Infinity
  /** From here on a fetch starts behind the scenes … */
  #refreshAt = -Infinity
  /** … and from here on its end is waited for, so that keys taken out of the set do not live on. */
  #staleAt = -Infinity
  /** No fetch before this time, after failures. */
  #retryAt = -Infinity
  #failures = 0

  constructor(options: RemoteKeysOptions<Asker>) {
    this.#options = options
    this.fetch = options.fetch
  }

  /** The keys; a promise only while there are none that may be used; null when they cannot be had. `asker` is who makes them be fetched. */
  current(asker: Asker | null = null): KeySet | null | Promise<KeySet | null> {
    const now = this.#options.monotonic()
    if (now < this.#refreshAt) return this.#keys
    if (this.#underWay === null && now >= this.#retryAt) void this.#start(now, asker)
    return this.#underWay === null || (this.#keys !== null && now < this.#staleAt) ? this.#keys : this.#underWay
  }

  /** For a key that is not in the set: it may be new. Null when it is too soon to ask again. */
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

  /** Never rejects: many requests may wait for it. */
  async #run(asker: Asker | null): Promise<KeySet | null> {
    try {
      this.#take(await this.fetch(asker))
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error))
    }
    return this.#keys
  }

  #take({ text, lifetimeMs }: FetchedKeys): void {
    // The same text stays the same set, so that what was verified with it stays verified.
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

/** Tokens with made-up key ids must not turn into a flood at the issuer's door; a real new key is found this soon. */
const COOLDOWN_MS = 1_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
