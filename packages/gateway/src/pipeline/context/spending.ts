import type { ClientFormat, JsonObject, Usage } from '@portico/chat'
import type { LlmRecord, Pricer } from '../../records/llm-record.ts'
import type { Settlement } from '../../stores/budgets/settlement.ts'
import type { BudgetShare } from '../../stores/budgets/budget-store.ts'

/** The budgets of a request, in all of which a model call needs room. They are reserved together before it is sent. */
export interface Spending {
  /** Adds budgets, before the first call. */
  add(part: SpendingPart): void
  /** Tells the request, whose size limits the cost. A request without a format, such as one for embeddings, has no output tokens. */
  expect(body: JsonObject, format: ClientFormat | null): void
  /** Tells the estimated usage of a request that is not a chat. */
  expectUsage(usage: Usage): void
  /**
   * Reserves what the call may cost at a provider, in place of an earlier reservation; returns the refusal, or null. A
   * call without an expected usage is only refused when nothing is left.
   */
  reserve(call: SpendingCall): SpendingRefusal | null | Promise<SpendingRefusal | null>
  /** Returns the refusal of a call whose cost is counted at its end; null while anything is left. */
  check(): SpendingRefusal | null | Promise<SpendingRefusal | null>
  /**
   * Makes the budgets of a shadow policy count the calls of this request, without an effect on the calls. `decided` is
   * called once: with the first refusal, or with null at the end of the request.
   */
  followedBy(shadow: Spending, decided: (refusal: SpendingRefusal | null) => void): void
  /**
   * Replaces the reservation by what the request has cost; called once, at the end of the request. `record` gets what
   * another process needs to settle the request again.
   */
  finish(rx: { readonly llm: LlmRecord | null }, record?: Settlement[]): void
}

/** The budgets of one policy. The first ones are named first when several lack room. */
export interface SpendingPart {
  readonly budgets: readonly SpendingBudget[]
  /** Output tokens to reserve for a call that sets no maximum. */
  readonly outputTokens: number
  readonly allowsUnpriced: boolean
}

export interface SpendingBudget {
  /** The name in responses, logs and traces. */
  readonly name: string
  readonly unit: 'usd' | 'tokens'
  readonly share: BudgetShare
}

export interface SpendingCall {
  readonly requestModel: string
  readonly pricer: Pricer | null
  /** The tokens, or the billionths of a US dollar, of the attempts before this call. */
  charged(unit: 'tokens' | 'usd'): number
}

export interface SpendingRefusal {
  readonly status: 403 | 429 | 503
  readonly code: 'budget_exceeded' | 'budget_unavailable' | 'model_unpriced'
  readonly message: string
  /** Seconds until the period of the budget ends; null when waiting does not help. */
  readonly retryAfter: number | null
}
