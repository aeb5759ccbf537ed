import { reads } from '@portico/cel'
import { createJudge, type RuleOutcome, rulesOf } from '../../../pipeline/policy/authorization.ts'
import { compileExpression } from '../../../pipeline/expression/expression.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import { implement } from '../../../pipeline/context/step.ts'
import type { AuthorizationConfig } from './schema.ts'

export const authorization = implement<readonly AuthorizationConfig[]>((configs, env) => {
  const rules = rulesOf(configs).map(({ mode, expression }) => ({ mode, ...env.cel(expression, 'request') }))
  const judge = createJudge<RequestContext>(rules)
  return {
    onlyReads: true,
    request(rx) {
      const allowed = judge.allows(rx)
      if (allowed && rx.trace === null) return undefined
      const rules = judge.explain(rx)
      if (rx.trace !== null) {
        const result = allowed ? 'allow' : 'deny'
        rx.trace.emit({ type: 'authorizationResult', rules, result }, allowed ? 'success' : 'error')
      }
      if (allowed) return undefined
      rx.notes = { code: 'authorization_denied', rules }
      const reply = failureReply(DENIED, rx.headers.get('content-type'))
      const { jwt, scopeChallenge } = rx
      if (jwt !== null && scopeChallenge !== null && rules.some(wantsScope)) {
        reply.headers.set('www-authenticate', scopeChallenge(rx))
      }
      return reply
    },
  }
})

/** Whether a rule that was against the request asks for a scope of the token. */
function wantsScope({ name: source, mode, matched }: RuleOutcome): boolean {
  if (matched === (mode !== 'deny')) return false
  const { references } = compileExpression(source, 'request')
  return SCOPE_CLAIMS.some((claim) => reads(references, ['jwt', claim]))
}

/** RFC 8693, and what Microsoft, Auth0 and others call it. */
const SCOPE_CLAIMS = ['scope', 'scp', 'scopes', 'permissions']
const DENIED = { status: 403, message: 'authorization failed', reason: 'Authorization' } as const
