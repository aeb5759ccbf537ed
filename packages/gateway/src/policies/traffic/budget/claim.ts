import type { ClientFormat, JsonObject, Usage } from '@portico/chat'
import { estimatePrompt, outputMaximum } from '../../../llm/estimate-call.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Spending, SpendingCall, SpendingRefusal } from '../../../pipeline/context/spending.ts'
import type { LlmRecord } from '../../../records/llm-record.ts'
import type { BudgetDecision, BudgetReservation } from '../../../stores/budgets/budget-store.ts'
import type { BudgetLimit } from './limit.ts'
import { spendingRefusal, unpriced } from './refusals.ts'

interface ClaimSettings {
  /** Output tokens of a call that sets no maximum. */
  readonly outputTokens: number
  readonly allowsUnpriced: boolean
}

/** The budgets of one request: reserved before a call, settled at the end of the request. */
export class BudgetClaim implements Spending {
  readonly #limits: readonly BudgetLimit[]
  readonly #settings: ClaimSettings
  readonly #reservation: BudgetReservation
  #expected: Usage = {}
  #isExpected = false
  /** The amount for each budget if the provider charges the prompt alone. */
  #promptAmounts: number[] = []

  constructor(limits: readonly BudgetLimit[], reservation: BudgetReservation, settings: ClaimSettings) {
    this.#limits = limits
    this.#reservation = reservation
    this.#settings = settings
  }

  expect(body: JsonObject, format: ClientFormat | null): void {
    const output = format === null ? 0 : outputMaximum(body, this.#settings.outputTokens)
    this.expectUsage({ input: estimatePrompt(body, format), output })
  }

  expectUsage(usage: Usage): void {
    this.#expected = usage
    this.#isExpected = true
  }

  reserve(call: SpendingCall): SpendingRefusal | null | Promise<SpendingRefusal | null> {
    // Calls that cost nothing, such as the list of models, expect no tokens.
    if (!this.#isExpected) return null
    const amounts = this.#amounts(call, this.#expected)
    if (amounts === null) return unpriced(call.requestModel)
    this.#promptAmounts = this.#amounts(call, { ...this.#expected, output: 0 }) ?? []
    const whole = amounts.map((amount, index) => amount + call.charged(this.#limits[index]?.unit ?? 'tokens'))
    return this.#refusalOf(this.#reservation.reserve(whole))
  }

  /** The refusal of a request for which nothing at all is left; null when there is room. */
  exhausted(): SpendingRefusal | null | Promise<SpendingRefusal | null> {
    return this.#refusalOf(this.#reservation.check())
  }

  renew(): void {
    this.#reservation.renew()
  }

  /** Replaces all reservations by what the call has cost; called once, at the end of the request. */
  settle({ llm }: RequestContext): void {
    const held = this.#reservation.amounts
    const spent = this.#limits.map(({ unit }, index) => {
      const before = llm?.charged(unit) ?? 0
      const own = spentBy(llm, unit)
      const reserved = held[index]
      if (reserved === undefined) return before + (own ?? 0)
      return before + (own ?? this.#assumed(llm, index, reserved - before))
    })
    this.#reservation.settle(spent)
  }

  /** The amount of a call whose usage is unknown: all that was reserved, the prompt alone, or nothing. */
  #assumed(llm: LlmRecord | null, index: number, reserved: number): number {
    const outcome = llm?.attempts.at(-1)?.outcome ?? 'refused'
    if (/^2\d\d$/.test(outcome)) return reserved
    // The client left before the provider responded, which does not keep the provider from charging the prompt.
    return outcome === 'cancelled' || outcome === '' ? (this.#promptAmounts[index] ?? 0) : 0
  }

  /** The amount of a call for each budget; null when its price is unknown and a budget needs it. */
  #amounts({ requestModel, pricer }: SpendingCall, usage: Usage): number[] | null {
    const amounts: number[] = []
    for (const { unit } of this.#limits) {
      if (unit === 'tokens') amounts.push((usage.input ?? 0) + (usage.output ?? 0))
      else {
        const cost = pricer?.({ requestModel, responseModel: '', usage, isEstimated: true })
        if (cost?.kind === 'known') amounts.push(cost.nanoDollars)
        else if (this.#settings.allowsUnpriced) amounts.push(0)
        else return null
      }
    }
    return amounts
  }

  #refusalOf(decision: BudgetDecision | Promise<BudgetDecision>): ReturnType<BudgetClaim['reserve']> {
    if (decision instanceof Promise) return decision.then((known) => spendingRefusal(known, this.#limits))
    return spendingRefusal(decision, this.#limits)
  }
}

/** The cost of a call; null when its usage or its price is unknown. */
function spentBy(llm: LlmRecord | null, unit: BudgetLimit['unit']): number | null {
  if (llm === null || !llm.hasUsage) return null
  // Providers may report any number, and budgets count whole ones.
  if (unit === 'tokens') return llm.hasTokens || llm.hasOtherUnits ? Math.ceil(llm.totalTokens) : null
  const { cost } = llm
  return cost?.kind === 'known' ? cost.nanoDollars : null
}
