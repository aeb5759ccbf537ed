import { createJudge, rulesOf } from '../../../pipeline/authorization.ts'
import { widest } from '../../../pipeline/expression.ts'
import type { RequestContext } from '../../../pipeline/request-context.ts'
import { failureReply } from '../../../pipeline/failure-reply.ts'
import { implement } from '../../../pipeline/step.ts'
import type { AuthorizationConfig } from './schema.ts'

export const authorization = implement<readonly AuthorizationConfig[]>((configs, env) => {
  const rules = rulesOf(configs).map(({ mode, expression }) => ({ mode, ...env.cel(expression, 'request') }))
  const judge = createJudge<RequestContext>(rules)
  return {
    requestBody: widest(rules.map((rule) => rule.requestBody)),
    request(rx) {
      const allowed = judge.allows(rx)
      if (rx.trace !== null) {
        const result = allowed ? 'allow' : 'deny'
        rx.trace.emit({ type: 'authorizationResult', rules: judge.explain(rx), result }, allowed ? 'success' : 'error')
      }
      return allowed ? undefined : failureReply(DENIED, rx.headers.get('content-type'))
    },
  }
})

const DENIED = { status: 403, message: 'authorization failed', reason: 'Authorization' } as const
