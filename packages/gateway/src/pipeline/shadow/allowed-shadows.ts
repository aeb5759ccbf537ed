import { areAllowed } from '../../records/allowed-outcome.ts'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'

/**
 * Encodes the details of records that have only shadow policies which would have allowed the request, as most requests
 * with shadow policies do. The text for the same policies is made once.
 */
export class AllowedShadows {
  readonly #textByPolicies = new Map<string, string>()

  /** Returns the details as JSON; null when an outcome has more to tell. */
  of(outcomes: readonly ShadowOutcome[]): string | null {
    if (!areAllowed(outcomes)) return null
    const [first] = outcomes
    const policies = outcomes.length === 1 && first !== undefined ? first.policy : namesOf(outcomes).join(',')
    let text = this.#textByPolicies.get(policies)
    if (text === undefined) {
      text = JSON.stringify({ allowedShadows: namesOf(outcomes) })
      this.#textByPolicies.set(policies, text)
    }
    return text
  }
}

function namesOf(outcomes: readonly ShadowOutcome[]): string[] {
  return outcomes.map(({ policy }) => policy)
}
