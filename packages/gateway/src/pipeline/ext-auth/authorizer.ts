import { isGrpcContentType } from '@portico/http/grpc'
import type { ExtAuthConfig } from '../../schema/fields/auth/ext-auth.ts'
import { CalloutFault, Callouts } from '../callouts/callouts.ts'
import type { Failure } from '../context/failure.ts'
import { failureReply } from '../compiled/failure-reply.ts'
import { InvalidHeader } from '../policy/header-edit.ts'
import { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Env } from '../context/step.ts'
import type { Ask, Asking } from './asking.ts'
import { type AllowDecision, DENIED, type Decision, type DenyDecision, undecided } from './decision.ts'
import { DecisionCache } from './decision-cache.ts'
import { readForwarded } from './forwarded-body.ts'
import { grpcAsker } from './grpc-check.ts'
import { httpAsker } from './http-check.ts'

/** The verdict on a request: allowed with changes, denied with a reply, or null to continue unchanged because the check failed. */
export type Verdict = AllowDecision | Reply | null

/** The external authorizer of one policy. */
export class Authorizer {
  readonly #env: Env
  readonly #ask: Ask
  readonly #maxSize: number | null
  readonly #cache: DecisionCache | null
  readonly #failureMode: 'FailClosed' | 'FailOpen'
  /** The verdict with FailOpen on a request whose check failed. */
  readonly #undecidedVerdict: AllowDecision | null

  constructor(config: ExtAuthConfig, env: Env, phase: Asking['phase']) {
    const { backendRef, http, cache, forwardBody, failureMode = 'FailClosed', timeout = DEFAULT_TIMEOUT_MS } = config
    const callouts = new Callouts('ExtAuthz', backendRef.name ?? backendRef.host, env)
    const asking = { env, phase, callouts, timeoutMs: timeout }
    this.#env = env
    this.#ask = http === undefined ? grpcAsker(config, asking) : httpAsker(config, http, asking)
    this.#maxSize = forwardBody?.maxSize ?? null
    this.#cache = cache === undefined ? null : new DecisionCache(cache, asking)
    this.#failureMode = failureMode
    const taken = http?.allowedResponseHeaders ?? []
    this.#undecidedVerdict = taken.length === 0 ? null : undecided(taken.map((name) => name.toLowerCase()))
  }

  verdict(rx: RequestContext): Verdict | Promise<Verdict> {
    const cache = this.#cache
    const key = cache === null ? null : cache.keyOf(rx)
    const known = key === null ? null : (cache?.get(key) ?? null)
    if (known !== null) {
      rx.trace?.note({ code: 'decided_before' })
      return this.#judge(known, rx)
    }
    return this.#decide(rx).then((decision) => {
      // A failed check is not a decision and is not cached.
      const isDecided = !(decision instanceof CalloutFault || decision instanceof InvalidHeader)
      if (key !== null && isDecided) cache?.set(key, decision)
      return this.#judge(decision, rx)
    })
  }

  async #decide(rx: RequestContext): Promise<Decision> {
    if (this.#maxSize === null) return this.#ask(rx, null)
    const body = await readForwarded(rx, this.#maxSize)
    return body === null ? new CalloutFault('cancelled', 'the client has left') : this.#ask(rx, body)
  }

  #judge(decision: Decision, rx: RequestContext): Verdict {
    if (decision instanceof CalloutFault) return this.#undecided(decision, rx)
    if (decision instanceof InvalidHeader) return this.#unusable(decision, rx)
    if (decision.kind === 'allowed') return decision
    rx.error = 'denied by the authorizer'
    rx.note({ code: 'denied', status: decision.status })
    return refusal(decision, rx)
  }

  /** Denies the request in every failure mode: the authorizer answered, but its headers cannot be set. */
  #unusable({ header, message }: InvalidHeader, rx: RequestContext): Reply {
    this.#env.log.warn('the authorizer sent an invalid header', { header, route: rx.routeName })
    rx.note({ code: 'invalid_header', header })
    rx.error = `${UNUSABLE.message}: ${message}`
    return failureReply(UNUSABLE, rx.headers.get('content-type'))
  }

  #undecided({ outcome, cause, hasInvalidHeader }: CalloutFault, rx: RequestContext): Verdict {
    // The client is gone: it gets no reply, and the authorizer did not fail.
    if (outcome === 'cancelled') return failureReply(GONE, null)
    const failureMode = this.#failureMode
    const note = { code: 'no_decision', cause, failureMode }
    this.#env.log.warn('ext_authz call failed', { cause, failureMode, route: rx.routeName })
    if (failureMode === 'FailOpen' && !hasInvalidHeader) {
      rx.trace?.note(note)
      return this.#undecidedVerdict
    }
    rx.note(note)
    rx.error = `${REFUSED.message}: ${cause}`
    return failureReply(hasInvalidHeader ? UNUSABLE : REFUSED, rx.headers.get('content-type'))
  }
}

/** Returns the reply to a denied request: the response of the authorizer, or the gateway's own for gRPC clients and empty denials. */
function refusal(denied: DenyDecision, rx: RequestContext): Reply {
  const type = rx.headers.get('content-type')
  if (denied === DENIED) return failureReply(REFUSED, type)
  const { status, headers, body } = denied
  if (type === null || !isGrpcContentType(type))
    return new Reply(status, { headers: headers.clone(), body, reason: 'ExtAuth' })
  const reply = failureReply({ status, message: body.toString('utf8'), reason: 'ExtAuth' }, type)
  headers.forEach((name, value) => {
    if (name !== 'content-type') reply.headers.add(name, value)
  })
  return reply
}

/** Adds the changes to an allowed request to its trace. */
export function noteAllowed(allowed: AllowDecision, rx: RequestContext): void {
  const { cleared, headers, removed: after, metadata } = allowed
  if (rx.trace === null || allowed.isUndecided === true) return
  const names = headers.map(({ name }) => name)
  const removed = [...cleared, ...after]
  rx.trace.note({ code: 'allowed', headers: names, removed, metadata: Object.keys(metadata) })
}

const REFUSED: Failure = { status: 403, message: 'external authorization failed', reason: 'ExtAuth' }
const GONE: Failure = { ...REFUSED, reason: 'ClientGone' }
const UNUSABLE: Failure = { status: 500, message: REFUSED.message, reason: 'ExtAuth' }
const DEFAULT_TIMEOUT_MS = 2_000
