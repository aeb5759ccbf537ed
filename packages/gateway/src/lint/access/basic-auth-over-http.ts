import { defineCheck } from '../check.ts'
import { isLoopback } from '../hosts.ts'
import { policyOf } from '../subject.ts'

export const basicAuthOverHttp = defineCheck({
  code: 'basic-auth-over-http',
  severity: 'warning',
  summary: 'passwords that clients send to a listener without TLS',
  why: 'Basic authentication sends the password with each request. Without TLS, everyone on the path can read it.',
  fix: 'Use `protocol: HTTPS`. Behind a proxy that terminates TLS, name its addresses in `frontend.forwardedHeaders.trustedProxies`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        basicAuthentication: { secretRef: { env: USERS } }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  address: 127.0.0.1
  listeners:
  - routes:
    - policies:
        basicAuthentication: { secretRef: { env: USERS } }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes, frontend }, report) {
    const isBehindProxy =
      frontend.proxyProtocol !== undefined || (frontend.forwardedHeaders?.trustedProxies ?? []).length > 0
    if (isBehindProxy) return
    for (const view of routes) {
      const config = policyOf(view, 'basicAuthentication')
      if (config === undefined || view.listener.protocol !== 'HTTP' || isLoopback(view.bind.address)) continue
      report(
        { part: config },
        { found: `found passwords on port ${view.bind.port} without TLS`, expected: 'a listener of HTTPS' },
      )
    }
  },
})
