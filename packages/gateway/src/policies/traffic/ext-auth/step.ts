import { isGrpcContentType } from '../../../net/grpc.ts'
import { type Failure } from '../../../pipeline/failure.ts'
import { failureReply } from '../../../pipeline/failure-reply.ts'
import { Reply } from '../../../pipeline/reply.ts'
import type { RequestContext } from '../../../pipeline/request-context.ts'
import { implementBoth, type StepResult } from '../../../pipeline/step.ts'
import { conditional } from '../../conditional.ts'
import { applyEdit } from '../../../pipeline/header-edit.ts'
import { type Allowed, type Decision, type Denied } from './decision.ts'
import { readForwarded } from './forwarded-body.ts'
import { grpcAsker } from './grpc-check.ts'
import { httpAsker } from './http-check.ts'
import type { ExtAuthConfig } from './schema.ts'

export const extAuth = conditional(
  implementBoth<ExtAuthConfig>((config, env) => {
    const { http, forwardBody, failureMode = 'FailClosed', timeout = DEFAULT_TIMEOUT_MS } = config
    const ask = http === undefined ? grpcAsker(config, env, timeout) : httpAsker(config, http, env, timeout)
    const maxSize = forwardBody?.maxSize ?? null

    async function decide(rx: RequestContext): Promise<Decision> {
      const body = maxSize === null ? null : await readForwarded(rx, maxSize)
      if (maxSize !== null && body === null) return { kind: 'unasked', cause: 'the client has left' }
      return ask(rx, body, contextOf(rx))
    }

    function apply(decision: Decision, rx: RequestContext): Reply | void {
      switch (decision.kind) {
        case 'allowed':
          return allow(decision, rx)
        case 'denied':
          rx.error = 'denied by the authorizer'
          rx.trace?.note({ code: 'denied', status: decision.status })
          return refusal(decision, rx)
        case 'unasked':
          rx.trace?.note({ code: 'no_decision', cause: decision.cause, failureMode })
          env.log.warn('the authorizer could not be asked', { cause: decision.cause, failureMode, route: rx.routeName })
          if (failureMode === 'FailOpen') return
          rx.error = `${refused.message}: ${decision.cause}`
          return failureReply(refused, rx.headers.get('content-type'))
      }
    }

    return {
      request: (rx): StepResult => decide(rx).then((decision) => apply(decision, rx)),
      response(rx) {
        for (const edit of rx.extAuth?.responseHeaders ?? []) applyEdit(edit, rx.responseHeaders)
      },
    }
  }),
)

function allow({ removed, headers, target, responseHeaders, metadata }: Allowed, rx: RequestContext): void {
  for (const name of removed) rx.headers.remove(name)
  for (const edit of headers) applyEdit(edit, rx.headers)
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
  if (type === null || !isGrpcContentType(type)) return new Reply(status, { headers, body, reason: 'ExtAuth' })
  const reply = failureReply({ status, message: body.toString('utf8'), reason: 'ExtAuth' }, type)
  headers.forEach((name, value) => {
    if (name !== 'content-type') reply.headers.add(name, value)
  })
  return reply
}

function contextOf(rx: RequestContext) {
  return { rx, clientVersion: 'HTTP/1.1', clientScheme: 'http' as const, connectingTo: () => {} }
}

const refused: Failure = { status: 403, message: 'external authorization failed', reason: 'ExtAuth' }
const DEFAULT_TIMEOUT_MS = 2_000
