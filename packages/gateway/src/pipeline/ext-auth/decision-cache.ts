import { isCelError, type Result, toText } from '@portico/cel'
import type { Expression } from '../expression/expression.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Asking } from './asking.ts'
import type { Decision } from './decision.ts'
import type { ExtAuthConfig } from '../../schema/fields/auth/ext-auth.ts'

/** Decisions that hold for a while, by what the config says they depend on. */
export class DecisionCache {
  readonly #key: readonly Expression[]
  readonly #ttlMs: number
  readonly #maxEntries: number
  readonly #monotonic: () => number
  /** The one that was used longest ago comes first. */
  readonly #entries = new Map<string, { decision: Decision; until: number }>()

  constructor({ key, ttl, maxEntries }: NonNullable<ExtAuthConfig['cache']>, { env, phase }: Asking) {
    this.#key = key.map((source) => env.cel(source, phase))
    this.#ttlMs = ttl
    this.#maxEntries = maxEntries
    this.#monotonic = env.monotonic
  }

  /** Null where a part of it is missing: such a request is asked about each time. */
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
