import { Authorizer, noteAllowed, type Verdict } from '../../../pipeline/ext-auth/authorizer.ts'
import { editHeaders } from '../../../pipeline/ext-auth/decision.ts'
import { editQuery } from '../../../pipeline/ext-auth/edit-query.ts'
import { applyEdit } from '../../../pipeline/policy/header-edit.ts'
import { Reply } from '../../../pipeline/context/reply.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { implementBoth } from '../../../pipeline/context/step.ts'
import type { ExtAuthConfig } from '../../../schema/fields/auth/ext-auth.ts'
import { conditional } from '../../../pipeline/policy/conditional.ts'

export const extAuth = conditional(
  implementBoth<ExtAuthConfig>((config, env) => {
    const authorizer = new Authorizer(config, env, 'request')
    return {
      request(rx) {
        const verdict = authorizer.verdict(rx)
        return verdict instanceof Promise ? verdict.then((later) => apply(later, rx)) : apply(verdict, rx)
      },
      response(rx) {
        for (const edit of rx.extAuth?.responseHeaders ?? []) applyEdit(edit, rx.responseHeaders)
      },
    }
  }),
)

function apply(verdict: Verdict, rx: RequestContext): Reply | void {
  if (verdict instanceof Reply) return verdict
  if (verdict === null) return
  editHeaders(verdict, rx.headers)
  const target = editQuery(rx.upstreamTarget, verdict.query)
  if (target !== null) rx.setTarget(target)
  // The authorizers of the listener and of the route may both have responded.
  rx.extAuth = {
    metadata: { ...rx.extAuth?.metadata, ...verdict.metadata },
    responseHeaders: [...(rx.extAuth?.responseHeaders ?? []), ...verdict.responseHeaders],
    backendHeaders: [],
  }
  noteAllowed(verdict, rx)
}
