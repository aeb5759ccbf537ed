/**
 * The outcome of a shadow policy for a request: the policy would have `allowed` or `denied` the request; `error` when the
 * policy failed; `unknown` without an outcome in time.
 */
export type ShadowVerdict = 'allowed' | 'denied' | 'error' | 'unknown'

/** The outcome of one shadow policy for one request. */
export interface ShadowOutcome {
  /** The name of the policy, such as `authorization`. */
  readonly policy: string
  readonly outcome: ShadowVerdict
  /** The status of the response that the policy would have sent; null without one. */
  readonly status: number | null
  /** The cause for programs, such as `authorization_denied`; null when the policy would have allowed the request. */
  readonly code: string | null
  /** The outcome in words, such as `would have denied, rule 2`. */
  readonly text: string
  /** Data behind the decision, never secrets. */
  readonly values: { readonly [name: string]: unknown }
}

/** The shadows of a request. */
export interface RequestShadowRecord {
  readonly outcomes: readonly ShadowOutcome[]
}

/** Formats the outcomes for the access log: `authorization:denied,rateLimit:allowed`. */
export function shadowText({ outcomes }: RequestShadowRecord): string {
  return outcomes.map(({ policy, outcome }) => `${policy}:${outcome}`).join(',')
}

/** Whether any shadow would have denied the request, or failed. */
export function isShadowNotable({ outcomes }: RequestShadowRecord): boolean {
  return outcomes.some(({ outcome }) => outcome === 'denied' || outcome === 'error')
}
