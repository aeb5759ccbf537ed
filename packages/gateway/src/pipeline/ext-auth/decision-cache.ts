import { isCelError, type Result, toText } from '@portico/cel'
import type { Expression } from '../expression/expression.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Asking } from './asking.ts'
import type { Decision } from './decision.ts'
import type { ExtAuthConfig } from '../../schema/fields/auth/ext-auth.ts'

/** Caches decisions of the authorizer; the config names the expressions that make the key. */
export class DecisionCache {
  readonly #key: readonly Expression[]
  readonly #ttlMs: number
  readonly #maxEntries: number
  readonly #monotonic: () => number
  /** Least recently used first. */
  readonly #entries = new Map<string, { decision: Decision; until: number }>()

  constructor({ key, ttl, maxEntries }: NonNullable<ExtAuthConfig['cache']>, { env, phase }: Asking) {
    this.#key = key.map((source) => env.cel(source, phase))
    this.#ttlMs = ttl
    this.#maxEntries = maxEntries
    this.#monotonic = env.monotonic
  }

  /** Returns the cache key of a request; null when a part has no scalar value, so the decision is not cached. */
  keyOf(rx: RequestContext): string | null {
    const parts: string[] = []
    for (const expression of this.#key) {
      const result = expression.evaluate(rx)
      if (!isScalar(result)) return null
      parts.push(`${typeof result} ${toText(result)}`)
    }
    return JSON.stringify(parts)
  }

  get(key: string): Decision | null {
    const entry = this.#entries.get(key)
    if (entry === undefined) return null
    this.#entries.delete(key)
    if (entry.until <= this.#monotonic()) return null
    this.#entries.set(key, entry)
    return entry.decision
  }

  set(key: string, decision: Decision): void {
    this.#entries.delete(key)
    this.#entries.set(key, { decision, until: this.#monotonic() + this.#ttlMs })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest)
  }
}

function isScalar(result: Result): boolean {
  return !isCelError(result) && ['string', 'boolean', 'number', 'bigint'].includes(typeof result)
}
