import { networkRules } from '../../ir/shadow-policies.ts'
import { defineCheck } from '../check.ts'
import { isLoopback } from '../hosts.ts'
import { isGuarded } from '../identity.ts'

export const forwardProxyOpen = defineCheck({
  code: 'forward-proxy-open',
  severity: 'error',
  summary: 'a dynamic forward proxy that everyone can use',
  why: 'Clients choose the destination, so strangers can send requests in the name of this machine: to attack others, or to hide.',
  fix: 'Add an authentication or `authorization` to the route, `hostnames`, or `frontend.networkAuthorization`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ dynamicForwardProxy: {} }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { env: ANN_KEY } } } }
      backends: [{ dynamicForwardProxy: {} }]
`,
  run({ routes, ir }, report) {
    if (networkRules(ir.policies).length > 0) return
    for (const view of routes) {
      const { route, listener, bind, backends } = view
      const hosts = [...route.hostnames, ...(listener.hostname === '' ? [] : [listener.hostname])]
      if (hosts.some((host) => host !== '*') || isLoopback(bind.address) || isGuarded(view)) continue
      if ((listener.tls?.root ?? null) !== null) continue
      const open = backends.find(({ backend }) => backend.target.kind === 'dynamicForwardProxy')
      if (open === undefined) continue
      report(
        { part: open.entry },
        {
          found: `found a forward proxy for everyone who reaches port ${bind.port}`,
          expected: 'an authentication, rules or hostnames',
        },
      )
    }
  },
})
