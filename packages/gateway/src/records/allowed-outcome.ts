import type { ShadowOutcome } from './shadow-outcome.ts'

/**
 * Returns the outcome of a shadow policy that would have allowed the request and has nothing else to tell. It is the
 * same object for all requests, because most outcomes of most shadow policies are this one.
 */
export function allowedOutcome(policy: string): ShadowOutcome {
  let outcome = allowedOutcomes.get(policy)
  if (outcome === undefined) {
    const nothingElse = { status: null, code: null, text: 'would have allowed', values: {} }
    allowedOutcomes.set(policy, (outcome = { policy, outcome: 'allowed', ...nothingElse }))
  }
  return outcome
}

/** The outcomes of `allowedOutcome` by policy; the names of policies are those of the program. */
const allowedOutcomes = new Map<string, ShadowOutcome>()

/** Whether the shadow policies would have allowed the request, and have nothing else to tell. */
export function areAllowed(outcomes: readonly ShadowOutcome[]): boolean {
  for (const outcome of outcomes) if (allowedOutcomes.get(outcome.policy) !== outcome) return false
  return true
}
