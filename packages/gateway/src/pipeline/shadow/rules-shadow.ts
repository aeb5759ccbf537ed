import { allowedOutcome } from '../../records/allowed-outcome.ts'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import type { CountShadow } from '../../telemetry/metrics/shadow-metrics.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { RequestStep } from '../context/step.ts'
import type { Judge, RuleOutcome } from '../policy/authorization.ts'
import { ShadowsOfRequest, type ShadowServices } from './request-shadows.ts'
import { decidingRule, eventOf } from './verdict.ts'

/** Shadow rules for connections: they judge a connection, and never refuse it. */
export interface ConnectionShadow<Subject extends object> {
  /** Returns the outcome for a connection or TLS name, and counts the outcome the first time. */
  outcomeFor(subject: Subject): ShadowOutcome
}

/** Returns the shadow of rules that admit connections. Metrics count the outcomes under the route `unknown`. */
export function createConnectionShadow<Subject extends object>(
  policy: string,
  judge: Judge<Subject>,
  count: CountShadow,
): ConnectionShadow<Subject> {
  const outcomes = new WeakMap<Subject, ShadowOutcome>()
  return {
    outcomeFor(subject) {
      const known = outcomes.get(subject)
      if (known !== undefined) return known
      const outcome = outcomeOfRules(policy, judge.allows(subject), judge.explain(subject))
      outcomes.set(subject, outcome)
      count(policy, 'unknown', outcome.outcome)
      return outcome
    },
  }
}

/**
 * Returns the step that adds the shadow outcome of a connection to each of its requests, without counting the outcome
 * again.
 */
export function createConnectionStep(
  outcomeFor: (rx: RequestContext) => ShadowOutcome,
  services: ShadowServices,
): RequestStep {
  return {
    request(rx) {
      const outcome = outcomeFor(rx)
      if (rx.trace !== null) rx.trace.note(eventOf(outcome))
      ShadowsOfRequest.of(rx, services).addCounted(outcome)
    },
  }
}

/** Returns the function that adds the decision of shadow rules to a request. */
export function createRulesShadow(
  policy: string,
  services: ShadowServices,
): (rx: RequestContext, verdict: { readonly isAllowed: boolean; readonly rules: readonly RuleOutcome[] }) => void {
  return (rx, { isAllowed, rules }) => {
    const outcome = outcomeOfRules(policy, isAllowed, rules)
    if (rx.trace !== null) rx.trace.emit({ type: 'shadowResult', ...eventOf(outcome) })
    ShadowsOfRequest.of(rx, services).add(outcome)
  }
}

/** Returns the decision of shadow rules as an outcome. */
export function outcomeOfRules(policy: string, isAllowed: boolean, rules: readonly RuleOutcome[]): ShadowOutcome {
  if (isAllowed) return allowedOutcome(policy)
  const text = `would have denied, ${decidingRule(rules)}`
  return { policy, outcome: 'denied', status: null, code: CODES[policy] ?? policy, text, values: { rules } }
}

const CODES: Readonly<Record<string, string>> = {
  authorization: 'authorization_denied',
  mcpAuthorization: 'mcp_authorization',
  networkAuthorization: 'network_authorization',
}
