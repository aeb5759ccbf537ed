import type { ClientFormat, JsonObject, Usage } from '@portico/chat'
import { estimatePrompt, outputMaximum } from '../llm/estimate-call.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { Spending, SpendingBudget, SpendingCall, SpendingPart } from '../pipeline/context/spending.ts'
import type { SpendingRefusal } from '../pipeline/context/spending.ts'
import type { LlmRecord } from '../records/llm-record.ts'
import type { BudgetDecision, BudgetReservation, BudgetStore } from '../stores/budgets/budget-store.ts'
import type { Settlement } from '../stores/budgets/settlement.ts'
import { spendingRefusal, unpriced } from './refusals.ts'
import type { Renewals } from './renewals.ts'

type Decision = SpendingRefusal | null

/** The store of all budgets of a worker, and the leases of its requests. */
interface ClaimParts {
  readonly store: BudgetStore
  readonly renewals: Renewals
}

/**
 * Makes the request reserve from these budgets, too. Returns the refusal of a request for which nothing is left, as far
 * as the store knows without waiting.
 */
export function claimBudgets(rx: Pick<RequestContext, 'spending'>, part: SpendingPart, parts: ClaimParts): Decision {
  const refusal = spendingRefusal(parts.store.look(sharesOf(part.budgets)), part.budgets)
  if (refusal !== null) return refusal
  rx.spending ??= new BudgetClaim(parts)
  rx.spending.add(part)
  return null
}

/**
 * Returns the refusal by the budgets of a shadow policy, or null: at the first refusal, otherwise at the end of the
 * request. The budgets of the shadow are reserved and spent as if the policy were enforced.
 */
export function claimForShadow(
  original: Pick<RequestContext, 'spending' | 'isOver' | 'llm'>,
  part: SpendingPart,
  parts: ClaimParts,
): Decision | Promise<Decision> {
  const refusal = spendingRefusal(parts.store.look(sharesOf(part.budgets)), part.budgets)
  if (refusal !== null) return refusal
  const shadow = new BudgetClaim(parts)
  shadow.add(part)
  if (original.isOver) {
    // The shadow policy waited for a slow one, and the request has ended meanwhile, so only its cost is left to count.
    shadow.finish(original)
    return null
  }
  const spending = (original.spending ??= new BudgetClaim(parts))
  return new Promise((resolve) => spending.followedBy(shadow, resolve))
}

/** The budgets of one request: those of its key, of the teams of the key and of the route, reserved in one step. */
class BudgetClaim implements Spending {
  readonly #parts: ClaimParts
  readonly #spendings: SpendingPart[] = []
  #budgets: readonly SpendingBudget[] = []
  /** Null before the first call to a model. */
  #reservation: BudgetReservation | null = null
  /** The expected input and output; null for a call whose usage is not known before. */
  #expected: ((part: SpendingPart) => Usage) | null = null
  /** The amount for each budget if the provider charges the prompt alone. */
  #promptAmounts: number[] = []
  /** The budgets of shadow policies that have not decided yet; null without any. */
  #shadows: Map<Spending, (refusal: Decision) => void> | null = null

  constructor(parts: ClaimParts) {
    this.#parts = parts
  }

  add(part: SpendingPart): void {
    this.#spendings.push(part)
    this.#budgets = this.#budgets.length === 0 ? part.budgets : [...this.#budgets, ...part.budgets]
  }

  followedBy(shadow: Spending, decided: (refusal: Decision) => void): void {
    ;(this.#shadows ??= new Map()).set(shadow, decided)
  }

  expect(body: JsonObject, format: ClientFormat | null): void {
    for (const shadow of this.#shadows?.keys() ?? []) shadow.expect(body, format)
    const input = estimatePrompt(body, format)
    this.#expected = ({ outputTokens }) => ({ input, output: format === null ? 0 : outputMaximum(body, outputTokens) })
  }

  expectUsage(usage: Usage): void {
    for (const shadow of this.#shadows?.keys() ?? []) shadow.expectUsage(usage)
    this.#expected = () => usage
  }

  reserve(call: SpendingCall): Decision | Promise<Decision> {
    this.#follow((shadow) => shadow.reserve(call))
    const expected = this.#expected
    if (expected === null) return this.#checkOwn()
    if (this.#spendings.length === 0) return null
    const amounts = this.#amounts(call, expected)
    if (amounts === null) return unpriced(call.requestModel)
    this.#promptAmounts = this.#amounts(call, (part) => ({ ...expected(part), output: 0 })) ?? []
    const whole = amounts.map((amount, index) => amount + call.charged(this.#budgets[index]?.unit ?? 'tokens'))
    return this.#refusalOf(this.#open().reserve(whole))
  }

  check(): Decision | Promise<Decision> {
    this.#follow((shadow) => shadow.check())
    return this.#checkOwn()
  }

  #checkOwn(): Decision | Promise<Decision> {
    return this.#spendings.length === 0 ? null : this.#refusalOf(this.#open().check())
  }

  /**
   * Makes a call to the budgets of shadow policies, without a wait of the request. A refusal decides the shadow and
   * ends its spending.
   */
  #follow(ask: (shadow: Spending) => Decision | Promise<Decision>): void {
    for (const [shadow, decided] of this.#shadows ?? []) {
      const conclude = (refusal: Decision): void => {
        if (refusal === null || this.#shadows?.delete(shadow) !== true) return
        shadow.finish({ llm: null })
        decided(refusal)
      }
      const asked = ask(shadow)
      if (asked instanceof Promise) void asked.then(conclude, () => conclude(null))
      else conclude(asked)
    }
  }

  /** Moves the end of the lease; called by `Renewals`. */
  renew(): void {
    this.#reservation?.renew()
  }

  finish({ llm }: { readonly llm: LlmRecord | null }, record?: Settlement[]): void {
    for (const [shadow, decided] of this.#shadows ?? []) {
      shadow.finish({ llm }, record)
      decided(null)
    }
    this.#shadows = null
    if (this.#spendings.length === 0) return
    if (llm === null && this.#reservation === null) return
    const reservation = this.#open()
    this.#parts.renewals.delete(this)
    const held = reservation.amounts
    const spent = this.#budgets.map(({ unit }, index) => {
      const before = llm?.charged(unit) ?? 0
      const own = spentBy(llm, unit)
      const reserved = held[index]
      if (reserved === undefined) return before + (own ?? 0)
      return before + (own ?? this.#assumed(llm, index, reserved - before))
    })
    reservation.settle(spent, record)
  }

  #open(): BudgetReservation {
    if (this.#reservation !== null) return this.#reservation
    this.#parts.renewals.add(this)
    this.#reservation = this.#parts.store.open(sharesOf(this.#budgets))
    return this.#reservation
  }

  /** The amount of a call whose usage is unknown: all that was reserved, the prompt alone, or nothing. */
  #assumed(llm: LlmRecord | null, index: number, reserved: number): number {
    const outcome = llm?.attempts.at(-1)?.outcome ?? 'refused'
    if (/^2\d\d$/.test(outcome)) return reserved
    // The client left before the provider responded, which does not keep the provider from charging the prompt.
    return outcome === 'cancelled' || outcome === '' ? (this.#promptAmounts[index] ?? 0) : 0
  }

  /** The amount of a call for each budget; null when its price is unknown and a budget needs it. */
  #amounts({ requestModel, pricer }: SpendingCall, usageFor: (part: SpendingPart) => Usage): number[] | null {
    const amounts: number[] = []
    for (const part of this.#spendings) {
      const usage = usageFor(part)
      for (const { unit } of part.budgets) {
        if (unit === 'tokens') amounts.push((usage.input ?? 0) + (usage.output ?? 0))
        else {
          const cost = pricer?.({ requestModel, responseModel: '', usage, isEstimated: true })
          if (cost?.kind === 'known') amounts.push(cost.nanoDollars)
          else if (part.allowsUnpriced) amounts.push(0)
          else return null
        }
      }
    }
    return amounts
  }

  #refusalOf(decision: BudgetDecision | Promise<BudgetDecision>): Decision | Promise<Decision> {
    if (decision instanceof Promise) return decision.then((known) => spendingRefusal(known, this.#budgets))
    return spendingRefusal(decision, this.#budgets)
  }
}

function sharesOf(budgets: readonly SpendingBudget[]): SpendingBudget['share'][] {
  return budgets.map(({ share }) => share)
}

/** The cost of a call; null when its usage or its price is unknown. */
function spentBy(llm: LlmRecord | null, unit: SpendingBudget['unit']): number | null {
  if (llm === null || !llm.hasUsage) return null
  // Providers may report any number, and budgets count whole ones.
  if (unit === 'tokens') return llm.hasTokens || llm.hasOtherUnits ? Math.ceil(llm.totalTokens) : null
  const { cost } = llm
  return cost?.kind === 'known' ? cost.nanoDollars : null
}
