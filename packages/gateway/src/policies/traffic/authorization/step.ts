import { createJudge, rulesOf } from '../../../pipeline/authorization.ts'
import { widest } from '../../../pipeline/expression.ts'
import type { Rx } from '../../../pipeline/request.ts'
import { rescue } from '../../../pipeline/rescue.ts'
import { implement } from '../../../pipeline/step.ts'
import type { AuthorizationConfig } from './schema.ts'

export const authorization = implement<readonly AuthorizationConfig[]>((configs, env) => {
  const rules = rulesOf(configs).map(({ mode, expression }) => ({ mode, ...env.cel(expression, 'request') }))
  const judge = createJudge<Rx>(rules)
  return {
    requestBody: widest(rules.map((rule) => rule.requestBody)),
    request(rx) {
      const allowed = judge.allows(rx)
      if (rx.trace !== null) {
        const result = allowed ? 'allow' : 'deny'
        rx.trace.emit({ type: 'authorizationResult', rules: judge.explain(rx), result }, allowed ? 'success' : 'error')
      }
      return allowed ? undefined : rescue(DENIED, rx.headers.get('content-type'))
    },
  }
})

const DENIED = { status: 403, message: 'authorization failed', reason: 'Authorization' } as const
