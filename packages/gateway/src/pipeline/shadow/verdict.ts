import { allowedOutcome } from '../../records/allowed-outcome.ts'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import type { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { RuleOutcome } from '../policy/authorization.ts'

/**
 * Returns the outcome of a shadow policy; `reply` is the response that the policy would have sent, undefined when it
 * allowed the request.
 */
export function verdictOf(
  policy: string,
  reply: Reply | void,
  { notes, error }: Pick<RequestContext, 'notes' | 'error'>,
): ShadowOutcome {
  if (reply === undefined) return allowedOutcome(policy)
  const { code = null, ...values } = notes ?? {}
  const cause = typeof code === 'string' ? code : null
  if (reply.reason === 'DirectResponse' && cause === null) return allowedOutcome(policy)
  if (reply.reason === 'ClientGone') return unknownOutcome(policy, 'the request body did not arrive as a whole')
  const { status } = reply
  const why = reasonIn(values) ?? error ?? reply.failure
  const suffix = why === null ? '' : `${RULE.test(why) ? ',' : ':'} ${why}`
  if (status >= 500) {
    return { policy, outcome: 'error', status, code: cause, text: `failed with status ${status}${suffix}`, values }
  }
  return { policy, outcome: 'denied', status, code: cause, text: `would have denied${suffix}`, values }
}

/** Returns the outcome of a shadow policy that threw an exception. */
export function faultOutcome(policy: string): ShadowOutcome {
  return {
    ...{ policy, outcome: 'error', status: null, code: 'internal' },
    ...{ text: 'failed with an internal error, which the log has', values: {} },
  }
}

export function unknownOutcome(policy: string, why: string): ShadowOutcome {
  return { policy, outcome: 'unknown', status: null, code: null, text: `outcome unknown: ${why}`, values: {} }
}

/** Returns the rule that decided, numbered from 1 in the order of the config, or the recorded reason. */
function reasonIn({ rules, reason }: { rules?: unknown; reason?: unknown }): string | null {
  if (Array.isArray(rules)) return decidingRule(rules as RuleOutcome[])
  return typeof reason === 'string' ? reason : null
}

/**
 * Returns the deciding rule in words: a matching deny rule first, then an unmet require rule; otherwise no allow rule
 * matched.
 */
export function decidingRule(rules: readonly RuleOutcome[]): string {
  const denying = rules.findIndex(({ mode, matched, error }) => mode === 'deny' && (matched || error !== undefined))
  const missing = rules.findIndex(({ mode, matched }) => mode === 'require' && !matched)
  const index = denying === -1 ? missing : denying
  return index === -1 ? 'no allow rule matched' : `rule ${index + 1}`
}

/** Returns the outcome as an event of a trace. */
export function eventOf({ policy, outcome, status, code, text, values }: ShadowOutcome): {
  readonly [key: string]: unknown
} {
  return { shadow: text, policy, outcome, status, code, ...values }
}

const RULE = /^(rule \d+|no allow rule matched)$/
