import type { ClientFormat, JsonObject, Usage } from '@portico/chat'
import type { Pricer } from '../../records/llm-record.ts'

/** The budgets of a request, which a model call reserves from before it is sent. */
export interface Spending {
  /** Tells the request, whose size limits the cost. A request without a format, such as one for embeddings, has no output tokens. */
  expect(body: JsonObject, format: ClientFormat | null): void
  /** Tells the estimated usage of a request that is not a chat. */
  expectUsage(usage: Usage): void
  /** Reserves what the call may cost at a provider, in place of an earlier reservation; returns the refusal, or null. */
  reserve(call: SpendingCall): SpendingRefusal | null | Promise<SpendingRefusal | null>
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
