import type { ClientFormat, JsonObject, Usage } from '@portico/chat'
import { estimatePrompt, outputMaximum } from '../llm/estimate-call.ts'
import type { Spending, SpendingCall, SpendingRefusal } from '../pipeline/context/spending.ts'
import type { LlmRecord } from '../records/llm-record.ts'
import type { Reservation, SpendLimit } from './spend-limit.ts'

/** One budget of a request. */
export interface BudgetShare {
  readonly limit: SpendLimit
  readonly slot: number
}

interface ClaimSettings {
  /** Output tokens of a call that sets no maximum. */
  readonly outputTokens: number
  readonly allowsUnpriced: boolean
}

/** The budgets of one request: reserved before a call, settled at the end of the request. */
export class BudgetClaim implements Spending {
  readonly #shares: readonly BudgetShare[]
  readonly #settings: ClaimSettings
  readonly #now: () => number
  #expected: Usage = {}
  #isExpected = false
  #reservations: Reservation[] = []
  /** The amount for each share if the provider charges the prompt alone. */
  #promptAmounts: number[] = []

  constructor(shares: readonly BudgetShare[], settings: ClaimSettings, now: () => number) {
    this.#shares = shares
    this.#settings = settings
    this.#now = now
  }

  expect(body: JsonObject, format: ClientFormat | null): void {
    const output = format === null ? 0 : outputMaximum(body, this.#settings.outputTokens)
    this.expectUsage({ input: estimatePrompt(body, format), output })
  }

  expectUsage(usage: Usage): void {
    this.#expected = usage
    this.#isExpected = true
  }

  reserve(call: SpendingCall): SpendingRefusal | null {
    // Calls that cost nothing, such as the list of models, expect no tokens.
    if (!this.#isExpected) return null
    const amounts = this.#amounts(call, this.#expected)
    if (amounts === null) return unpriced(call)
    this.#promptAmounts = this.#amounts(call, { ...this.#expected, output: 0 }) ?? []
    for (const [index, { limit, slot }] of this.#shares.entries()) {
      const amount = (amounts[index] ?? 0) + call.charged(limit.unit)
      const held = this.#reservations[index]
      if (held !== undefined) {
        if (!limit.move(held, amount)) return this.#exceeded(index)
        continue
      }
      const reservation = limit.reserve(slot, amount)
      if (reservation === null) {
        const refusal = this.#exceeded(index)
        this.#giveBack()
        return refusal
      }
      this.#reservations.push(reservation)
    }
    return null
  }

  /** The refusal of a request for which nothing at all is left; null when there is room. */
  exhausted(): SpendingRefusal | null {
    const index = this.#shares.findIndex(({ limit, slot }) => !limit.hasRest(slot))
    return index === -1 ? null : this.#exceeded(index)
  }

  renew(): void {
    for (const [index, held] of this.#reservations.entries()) this.#shares[index]?.limit.renew(held)
  }

  /** Replaces all reservations by what the call has cost; called once, at the end of the request. */
  settle({ llm }: { readonly llm: LlmRecord | null }): void {
    for (const [index, { limit, slot }] of this.#shares.entries()) {
      const held = this.#reservations[index]
      const before = llm?.charged(limit.unit) ?? 0
      const spent = spentBy(llm, limit.unit)
      if (held !== undefined) limit.settle(held, before + (spent ?? this.#assumed(llm, index, held.amount - before)))
      else if (llm !== null) limit.charge(slot, before + (spent ?? 0))
    }
    this.#reservations = []
  }

  /** The amount of a call whose usage is unknown: all that was reserved, the prompt alone, or nothing. */
  #assumed(llm: LlmRecord | null, index: number, reserved: number): number {
    const outcome = llm?.attempts.at(-1)?.outcome ?? 'refused'
    if (/^2\d\d$/.test(outcome)) return reserved
    // The client left before the provider responded, which does not keep the provider from charging the prompt.
    return outcome === 'cancelled' || outcome === '' ? (this.#promptAmounts[index] ?? 0) : 0
  }

  /** The amount of a call for each share; null when its price is unknown and a share needs it. */
  #amounts({ requestModel, pricer }: SpendingCall, usage: Usage): number[] | null {
    const amounts: number[] = []
    for (const { limit } of this.#shares) {
      if (limit.unit === 'tokens') amounts.push((usage.input ?? 0) + (usage.output ?? 0))
      else {
        const cost = pricer?.({ requestModel, responseModel: '', usage, isEstimated: true })
        if (cost?.kind === 'known') amounts.push(cost.nanoDollars)
        else if (this.#settings.allowsUnpriced) amounts.push(0)
        else return null
      }
    }
    return amounts
  }

  #giveBack(): void {
    for (const [index, held] of this.#reservations.entries()) this.#shares[index]?.limit.settle(held, 0)
    this.#reservations = []
  }

  #exceeded(index: number): SpendingRefusal | null {
    const share = this.#shares[index]
    if (share === undefined) return null
    const { limit, slot } = share
    const { end } = limit.period
    const left = `${amountText(limit.left(slot), limit.unit)} of ${amountText(limit.amount, limit.unit)} left`
    const message = `budget exceeded: ${limit.name} has ${left} and begins anew at ${new Date(end).toISOString()}`
    const retryAfter = Math.max(1, Math.ceil((end - this.#now()) / 1000))
    return { status: 429, code: 'budget_exceeded', message, retryAfter }
  }
}

function unpriced({ requestModel }: SpendingCall): SpendingRefusal {
  const message = `no price is known for the model ${requestModel.slice(0, 256)}, and a budget needs one`
  return { status: 403, code: 'model_unpriced', message, retryAfter: null }
}

/** The cost of a call; null when its usage or its price is unknown. */
function spentBy(llm: LlmRecord | null, unit: SpendLimit['unit']): number | null {
  if (llm === null || !llm.hasUsage) return null
  // Providers may report any number, and budgets count whole ones.
  if (unit === 'tokens') return llm.hasTokens || llm.hasOtherUnits ? Math.ceil(llm.totalTokens) : null
  const { cost } = llm
  return cost?.kind === 'known' ? cost.nanoDollars : null
}

/** `$0.25`, or `1,000 tokens`. */
function amountText(amount: number, unit: SpendLimit['unit']): string {
  if (unit === 'tokens') return `${amount.toLocaleString('en-US')} tokens`
  const [whole, fraction = ''] = (amount / 1e9).toFixed(9).split('.')
  return `$${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}
