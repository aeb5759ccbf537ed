import { type ConnectionInfo, emptySource, type Source, sourceOf } from '@portico/http'
import { RequestContext } from '../context/request-context.ts'
import type { BranchBody } from './branch-body.ts'

/** The results of shadow policies, such as a JWT's claims, which only later shadow policies of the same request see. */
export type ShadowResults = Partial<Pick<RequestContext, (typeof RESULTS)[number]>>

const RESULTS = ['jwt', 'apiKey', 'apiKeyName', 'basicAuth', 'extAuth', 'scopeChallenge'] as const

/**
 * Returns a copy of a request for a shadow policy: the policy can change the copy and read its body, without an effect
 * on the request. The copy has no runner, no spans, and no calls that end with the request.
 */
export function forkRequest(
  rx: RequestContext,
  results: ShadowResults,
  branch: (length: number) => BranchBody,
): RequestContext {
  keepOwnAddress(rx.connection)
  const fork = new RequestContext(rx.exchange, rx.startedAt)
  return Object.assign(fork, rx, results, {
    headers: rx.headers.clone(),
    body: bodyFor(rx, branch),
    metadata: rx.metadata === null ? null : { ...rx.metadata },
    keyUse: null,
    spending: null,
    tokenAccounts: [],
    limitHeaders: [],
    rateLimit: null,
    shadows: null,
    original: rx,
    open: null,
    runner: null,
    chosen: null,
    scope: null,
    callouts: null,
    trace: null,
    spans: null,
    notes: null,
    error: null,
    decision: null,
    serial: 0,
  })
}

/** Reads the address of this end now, because a shadow policy may run after the connection has closed. */
function keepOwnAddress(connection: ConnectionInfo): void {
  connection.destination()
}

/** Returns the policy results that a request has at the moment, such as its JWT claims and API key. */
export function resultsOf({
  jwt,
  apiKey,
  apiKeyName,
  basicAuth,
  extAuth,
  scopeChallenge,
}: RequestContext): ShadowResults {
  return { jwt, apiKey, apiKeyName, basicAuth, extAuth, scopeChallenge }
}

/**
 * Adds the results that a finished shadow policy found on its copy of the request to `results`, for later shadow
 * policies; `before` has the results from before the policy ran.
 */
export function keepResults(before: ShadowResults, fork: RequestContext, results: ShadowResults): void {
  for (const name of RESULTS) {
    if (fork[name] !== before[name]) Object.assign(results, { [name]: fork[name] })
  }
}

function bodyFor({ bufferedBody, body }: RequestContext, branch: (length: number) => BranchBody): Source {
  if (bufferedBody !== null && bufferedBody.whole !== null) return sourceOf(bufferedBody.whole, bufferedBody.trailers)
  return body.length === 0 ? emptySource : branch(body.length)
}
