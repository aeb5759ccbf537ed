import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import type { CountShadow } from '../../telemetry/metrics/shadow-metrics.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { RequestStep } from '../context/step.ts'
import type { Judge, RuleOutcome } from '../policy/authorization.ts'
import { ShadowsOfRequest, type ShadowServices } from './request-shadows.ts'
import { decidingRule, eventOf } from './verdict.ts'

/** The shadow of rules about connections. */
export interface ConnectionShadow<Subject extends object> {
  /** Judges a subject and counts the outcome, once for each subject. */
  outcomeFor(subject: Subject): ShadowOutcome
}

/** Returns the shadow of rules that admit connections. Their outcomes are counted for the route `unknown`. */
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

/** Returns the step that adds the outcome of a connection to its requests, which do not count the outcome again. */
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

/** Returns the function that adds what shadow rules would have decided to a request. */
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

/** Returns what rules would have decided. */
export function outcomeOfRules(policy: string, isAllowed: boolean, rules: readonly RuleOutcome[]): ShadowOutcome {
  if (isAllowed) return { policy, outcome: 'allowed', status: null, code: null, text: 'would have allowed', values: {} }
  const text = `would have denied, ${decidingRule(rules)}`
  return { policy, outcome: 'denied', status: null, code: CODES[policy] ?? policy, text, values: { rules } }
}

const CODES: Readonly<Record<string, string>> = {
  authorization: 'authorization_denied',
  mcpAuthorization: 'mcp_authorization',
  networkAuthorization: 'network_authorization',
}
