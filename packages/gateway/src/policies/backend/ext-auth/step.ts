import { ConfigFault, CyclicBackend } from '../../../pipeline/compiled/config-fault.ts'
import { Authorizer, noteAllowed, type Verdict } from '../../../pipeline/ext-auth/authorizer.ts'
import { editHeaders } from '../../../pipeline/ext-auth/decision.ts'
import { editQuery } from '../../../pipeline/ext-auth/edit-query.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import { applyEdit } from '../../../pipeline/policy/header-edit.ts'
import type { BackendStep, OutgoingRequest } from '../../../pipeline/context/outgoing.ts'
import { Reply } from '../../../pipeline/context/reply.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import type { ExtAuthConfig } from '../../../schema/fields/auth/ext-auth.ts'
import type { OrConditional } from '../../../pipeline/policy/conditional.ts'

/** Calls the authorizer for each attempt, with the request after the policies of the route and before those of the backend. */
export function backendExtAuth(config: OrConditional<ExtAuthConfig>, env: Env): BackendStep {
  const forms = formsOf(config).map(({ condition, policy }) => ({
    condition: condition === undefined ? null : env.cel(condition, 'request'),
    authorizer: authorizerOf(policy, env),
    readsBody: policy.forwardBody !== undefined,
  }))
  return {
    // An attempt may be repeated, so the body is buffered before the first.
    ...(forms.some(({ readsBody }) => readsBody) && { requestBody: 'prefix' }),
    request(outgoing, rx) {
      const form = forms.find(({ condition }) => condition === null || condition.isTrue(rx))
      if (form === undefined) return rx.trace?.skipped('no condition is true')
      const verdict = form.authorizer.verdict(rx)
      return verdict instanceof Promise
        ? verdict.then((later) => apply(later, outgoing, rx))
        : apply(verdict, outgoing, rx)
    },
    response(rx) {
      for (const edit of rx.extAuth?.backendHeaders ?? []) applyEdit(edit, rx.responseHeaders)
    },
  }
}

function formsOf(config: OrConditional<ExtAuthConfig>) {
  // Without the list the schema has seen to it that the plain form is whole.
  return config.conditional ?? [{ condition: undefined, policy: config as ExtAuthConfig }]
}

function authorizerOf(config: ExtAuthConfig, env: Env): Authorizer {
  try {
    return new Authorizer(config, env, 'backend')
  } catch (error) {
    if (!(error instanceof CyclicBackend)) throw error
    const found = 'found an authorizer whose own calls would need authorization by itself'
    throw new ConfigFault(config, ['backendRef'], {
      found,
      expected: 'an authorizer that can be called without its own authorization',
    })
  }
}

function apply(verdict: Verdict, outgoing: OutgoingRequest, rx: RequestContext): Failure | void {
  if (verdict instanceof Reply) {
    const { status, reason } = verdict
    return { status, reason, message: messageOf(verdict), reply: verdict }
  }
  if (verdict === null) return
  editHeaders(verdict, outgoing.headers)
  outgoing.target = editQuery(outgoing.target, verdict.query) ?? outgoing.target
  rx.extAuth = {
    metadata: { ...rx.extAuth?.metadata, ...verdict.metadata },
    responseHeaders: rx.extAuth?.responseHeaders ?? [],
    // Only the attempt that is answered counts.
    backendHeaders: verdict.responseHeaders,
  }
  noteAllowed(verdict, rx)
}

/** For clients that get a message in place of the reply. */
function messageOf({ body }: Reply): string {
  const text = body.toString('utf8').trim()
  return text === '' || text.length > MAX_MESSAGE ? 'external authorization failed' : text
}

const MAX_MESSAGE = 1024
