/**
 * The outcome of a shadow policy for a request: the policy would have `allowed` or `denied` the request. `error` means
 * that the policy failed, and `unknown` that the policy did not end in time.
 */
export type ShadowVerdict = 'allowed' | 'denied' | 'error' | 'unknown'

/** The outcome of one shadow policy for one request. */
export interface ShadowOutcome {
  /** The name of the policy, such as `authorization`. */
  readonly policy: string
  readonly outcome: ShadowVerdict
  /** The status of the response that the policy would have sent; null when the policy would have sent no response. */
  readonly status: number | null
  /**
   * The error code of the decision, such as `authorization_denied`; null when the policy would have allowed the
   * request.
   */
  readonly code: string | null
  /** The outcome in words, such as `would have denied, rule 2`. */
  readonly text: string
  /** The data that the decision depended on, without secrets. */
  readonly values: { readonly [name: string]: unknown }
}

/** The outcomes of a request's shadow policies. */
export interface RequestShadowRecord {
  readonly outcomes: readonly ShadowOutcome[]
  /** The outcomes as the details of a record, when no outcome has more to tell than that the policy allows. */
  readonly allowedDetails?: string | null
}

/** Returns the outcomes as the access log has them: `authorization:denied,rateLimit:allowed`. */
export function shadowText({ outcomes }: RequestShadowRecord): string {
  let text = ''
  for (const { policy, outcome } of outcomes) text += (text === '' ? '' : ',') + policy + ':' + outcome
  return text
}

/** Whether any shadow policy would have denied the request, or has failed. */
export function isShadowNotable({ outcomes }: RequestShadowRecord): boolean {
  for (const { outcome } of outcomes) if (outcome === 'denied' || outcome === 'error') return true
  return false
}
