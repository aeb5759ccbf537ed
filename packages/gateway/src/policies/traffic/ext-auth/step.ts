import { isGrpcContentType } from '../../../net/grpc.ts'
import { type Failure } from '../../../pipeline/failure.ts'
import { CalloutFault, Callouts } from '../../../pipeline/callouts.ts'
import { failureReply } from '../../../pipeline/failure-reply.ts'
import { Reply } from '../../../pipeline/reply.ts'
import type { RequestContext } from '../../../pipeline/request-context.ts'
import { implementBoth, type StepResult } from '../../../pipeline/step.ts'
import { conditional } from '../../conditional.ts'
import { applyEdit } from '../../../pipeline/header-edit.ts'
import { type Allowed, type Decision, type Denied } from './decision.ts'
import { DecisionCache } from './decision-cache.ts'
import { editQuery } from './edit-query.ts'
import { readForwarded } from './forwarded-body.ts'
import { grpcAsker } from './grpc-check.ts'
import { httpAsker } from './http-check.ts'
import type { ExtAuthConfig } from './schema.ts'

export const extAuth = conditional(
  implementBoth<ExtAuthConfig>((config, env) => {
    const { http, forwardBody, failureMode = 'FailClosed', timeout = DEFAULT_TIMEOUT_MS } = config
    const callouts = new Callouts('ExtAuthz', config.backendRef.name ?? config.backendRef.host, env)
    const asking = { env, callouts, timeoutMs: timeout }
    const ask = http === undefined ? grpcAsker(config, asking) : httpAsker(config, http, asking)
    const maxSize = forwardBody?.maxSize ?? null

    const cache = config.cache === undefined ? null : new DecisionCache(config.cache, env)

    function request(rx: RequestContext): StepResult {
      const key = cache === null ? null : cache.keyOf(rx)
      const known = key === null ? null : (cache?.get(key) ?? null)
      if (known !== null) {
        rx.trace?.note({ code: 'decided_before' })
        return apply(known, rx)
      }
      return decide(rx).then((decision) => {
        // That nobody could be asked is no decision.
        if (key !== null && !(decision instanceof CalloutFault)) cache?.set(key, decision)
        return apply(decision, rx)
      })
    }

    async function decide(rx: RequestContext): Promise<Decision> {
      const body = maxSize === null ? null : await readForwarded(rx, maxSize)
      if (maxSize !== null && body === null) return new CalloutFault('cancelled', 'the client has left')
      return ask(rx, body)
    }

    function apply(decision: Decision, rx: RequestContext): Reply | void {
      if (decision instanceof CalloutFault) return undecided(decision, rx)
      if (decision.kind === 'allowed') return allow(decision, rx)
      rx.error = 'denied by the authorizer'
      rx.trace?.note({ code: 'denied', status: decision.status })
      return refusal(decision, rx)
    }

    function undecided({ outcome, cause }: CalloutFault, rx: RequestContext): Reply | void {
      // Nobody gets the reply, and the authorizer is not to blame.
      if (outcome === 'cancelled') return failureReply(refused, null)
      rx.trace?.note({ code: 'no_decision', cause, failureMode })
      env.log.warn('the authorizer could not be asked', { cause, failureMode, route: rx.routeName })
      if (failureMode === 'FailOpen') return
      rx.error = `${refused.message}: ${cause}`
      return failureReply(refused, rx.headers.get('content-type'))
    }

    return {
      request,
      response(rx) {
        for (const edit of rx.extAuth?.responseHeaders ?? []) applyEdit(edit, rx.responseHeaders)
      },
    }
  }),
)

function allow({ removed, headers, query, responseHeaders, metadata }: Allowed, rx: RequestContext): void {
  for (const name of removed) rx.headers.remove(name)
  for (const edit of headers) applyEdit(edit, rx.headers)
  const target = editQuery(rx.upstreamTarget, query)
  if (target !== null) rx.setTarget(target)
  // One for the listener and one for the route may both have spoken.
  rx.extAuth = {
    metadata: { ...rx.extAuth?.metadata, ...metadata },
    responseHeaders: [...(rx.extAuth?.responseHeaders ?? []), ...responseHeaders],
  }
  rx.trace?.note({
    code: 'allowed',
    headers: headers.map(({ name }) => name),
    removed,
    metadata: Object.keys(metadata),
  })
}

/** As the authorizer wants it, or as clients of gRPC read it. */
function refusal({ status, headers, body }: Denied, rx: RequestContext): Reply {
  const type = rx.headers.get('content-type')
  if (type === null || !isGrpcContentType(type))
    return new Reply(status, { headers: headers.clone(), body, reason: 'ExtAuth' })
  const reply = failureReply({ status, message: body.toString('utf8'), reason: 'ExtAuth' }, type)
  headers.forEach((name, value) => {
    if (name !== 'content-type') reply.headers.add(name, value)
  })
  return reply
}

const refused: Failure = { status: 403, message: 'external authorization failed', reason: 'ExtAuth' }
const DEFAULT_TIMEOUT_MS = 2_000
