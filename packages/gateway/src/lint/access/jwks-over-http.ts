import { defineCheck } from '../check.ts'
import { backendHost, isLoopback } from '../hosts.ts'
import { configsOf } from '../subject.ts'

export const jwksOverHttp = defineCheck({
  code: 'jwks-over-http',
  severity: 'error',
  summary: 'signing keys of tokens that are fetched without TLS',
  why: 'Whoever can change the response on its way can add a key, and sign tokens that the gateway accepts.',
  fix: 'Use an `https` URL, or add `tls` to the policies of the backend.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        jwtAuthentication:
          providers:
          - issuer: https://idp.example.com/
            audiences: [shop]
            jwks: { url: "http://idp.example.com/keys" }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        jwtAuthentication:
          providers:
          - issuer: https://idp.example.com/
            audiences: [shop]
            jwks: { url: "https://idp.example.com/keys" }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    const sources = [
      ...configsOf(subject, 'traffic', 'jwtAuthentication').flatMap((part) =>
        part.providers.map(({ jwks }, index) => ({ part, path: ['providers', index, 'jwks'], jwks })),
      ),
      ...configsOf(subject, 'traffic', 'mcpAuthentication').map((part) => ({ part, path: ['jwks'], jwks: part.jwks })),
    ]
    for (const { part, path, jwks } of sources) {
      const key = jwks?.url?.backend ?? (jwks?.remote === undefined ? undefined : jwks.remote.backendRef.name)
      const found = key === undefined ? null : backendHost(subject, key)
      if (found === null || found.hasTls || isLoopback(found.host)) continue
      report({ part, path }, { found: `found a key set of ${found.host} without TLS`, expected: 'TLS to the issuer' })
    }
  },
})
