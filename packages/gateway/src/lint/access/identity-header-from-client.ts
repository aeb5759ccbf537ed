import { defineCheck } from '../check.ts'
import { headersRead } from '../expressions.ts'
import { type RouteView, policyOf, rulesOf } from '../subject.ts'

export const identityHeaderFromClient = defineCheck({
  code: 'identity-header-from-client',
  severity: 'warning',
  summary: 'a rule that trusts a header of an identity which nothing but the client sets',
  why: 'Every client can send `x-user` or `x-role`. A rule over such a header is safe only after a policy has set or removed the header.',
  fix: 'Authenticate the client and read `jwt`, `apiKey` or `basicAuth`, or let an external authorizer set the header.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        authorization: { rules: [{ allow: '"admin" in default(request.headers.split()["x-role"], [])' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { env: ANN_KEY } } } }
        authorization: { rules: [{ allow: 'default(apiKey.role, "") == "admin"' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes }, report) {
    for (const view of routes) {
      if (isHeaderSetElsewhere(view)) continue
      for (const { expression, mode, part, path } of rulesOf(view)) {
        if (mode === 'deny') continue
        const text = expression.toLowerCase()
        const names = new Set([
          ...headersRead(expression),
          ...IDENTITY.filter((name) => text.includes(`split()["${name}"]`)),
        ])
        for (const name of IDENTITY) {
          if (!names.has(name)) continue
          report(
            { part, path },
            {
              found: `found a rule that trusts the header \`${name}\` of the client`,
              expected: 'an identity that the gateway has verified',
            },
          )
        }
      }
    }
  },
})

/** An external service may set headers before rules are evaluated, and a client certificate limits who can send them. */
function isHeaderSetElsewhere(view: RouteView): boolean {
  return (
    policyOf(view, 'extAuth') !== undefined ||
    view.early.extProc !== undefined ||
    (view.listener.tls?.root ?? null) !== null
  )
}

const IDENTITY = [
  ...['x-user', 'x-user-id', 'x-user-name', 'x-username', 'x-user-email', 'x-email', 'x-role', 'x-roles', 'x-groups'],
  ...['x-admin', 'x-tenant', 'x-tenant-id', 'x-forwarded-user', 'x-forwarded-email', 'x-forwarded-groups'],
  ...['x-auth-request-user', 'x-auth-request-email', 'x-auth-request-groups', 'x-remote-user', 'remote-user'],
]
