import type { KeyUse } from '../pipeline/context/key-use.ts'
import type { LlmRecord } from '../records/llm-record.ts'
import type { LimitRefusal } from '../spending/refuse-spending.ts'
import type { Renewals } from '../spending/renewals.ts'
import type { Reservation } from '../spending/spend-limit.ts'
import type { KeyAccounts, LimitShare, ReadyKey } from './ready-key.ts'

interface ClaimParts {
  readonly accounts: KeyAccounts
  readonly renewals: Renewals
  readonly now: () => number
}

/** The share of one request in the limits of its key: it takes from all of them, or from none. */
export class KeyClaim implements KeyUse {
  readonly #key: ReadyKey
  readonly #parts: ClaimParts
  /** Calls at once. */
  #calls: { readonly share: LimitShare; readonly held: Reservation }[] = []

  constructor(key: ReadyKey, parts: ClaimParts) {
    this.#key = key
    this.#parts = parts
  }

  get limitsModels(): boolean {
    return this.#key.models !== null
  }

  allowsModel(name: string): boolean {
    return this.#key.models === null || this.#key.models(name)
  }

  /** Takes from all limits; returns the refusal of the first one that is used up. */
  begin(): LimitRefusal | null {
    const { accounts, renewals } = this.#parts
    const requests: { share: LimitShare; period: number }[] = []
    for (const share of accounts.limits) {
      const period = this.#take(share)
      if (period === null) {
        this.#undo(requests)
        return this.#exceeded(share)
      }
      if (share.limit.unit === 'requests') requests.push({ share, period })
    }
    if (this.#calls.length > 0) renewals.add(this)
    return null
  }

  #undo(requests: readonly { share: LimitShare; period: number }[]): void {
    for (const { share, period } of requests) share.limit.giveBack(share.slot, period, 1)
    this.#endCalls()
  }

  renew(): void {
    for (const { share, held } of this.#calls) share.limit.renew(held)
  }

  finish(rx: { readonly llm: LlmRecord | null }): void {
    const { accounts, renewals } = this.#parts
    renewals.delete(this)
    this.#endCalls()
    const tokens = Math.ceil(rx.llm?.totalTokens ?? 0)
    if (tokens <= 0) return
    for (const { limit, slot } of accounts.limits) if (limit.unit === 'tokens') limit.charge(slot, tokens)
  }

  /** Returns the period in which the request counts; null when nothing is left. */
  #take(share: LimitShare): number | null {
    const { limit, slot } = share
    if (limit.unit === 'requests') return limit.spend(slot, 1)
    // The tokens of a response are known at its end.
    if (limit.unit === 'tokens') return limit.hasRest(slot) ? limit.period.number : null
    const held = limit.reserve(slot, 1)
    if (held !== null) this.#calls.push({ share, held })
    return held?.period ?? null
  }

  #endCalls(): void {
    for (const { share, held } of this.#calls) share.limit.settle(held, 0)
    this.#calls = []
  }

  #exceeded({ limit }: LimitShare): LimitRefusal {
    const { end } = limit.period
    const seconds = Number.isFinite(end) ? Math.max(1, Math.ceil((end - this.#parts.now()) / 1000)) : 1
    const when = limit.unit === 'calls' ? 'a call has ended' : `${seconds} s`
    const message = `limit exceeded: ${limit.name} is used up, try again ${limit.unit === 'calls' ? 'when' : 'in'} ${when}`
    return { status: 429, code: 'key_limit_exceeded', message, retryAfter: seconds }
  }
}
