import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const credentialInQuery = defineCheck({
  code: 'credential-in-query',
  severity: 'warning',
  summary: 'a credential that clients send in the URL',
  why: 'URLs are written to the logs of clients, proxies and servers, to browser histories and to `Referer` headers, and the credential with them.',
  fix: 'Let clients send the credential in a header.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication:
          location: { queryParameter: { name: key } }
          secretRef: { data: { ann: { env: ANN_KEY } } }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication:
          location: { header: { name: x-api-key } }
          secretRef: { data: { ann: { env: ANN_KEY } } }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const name of ['apiKeyAuthentication', 'jwtAuthentication', 'basicAuthentication'] as const) {
      for (const config of configsOf(subject, 'traffic', name)) {
        const parameter = config.location?.queryParameter
        if (parameter === undefined) continue
        report(
          { part: config, path: ['location'] },
          { found: `found a credential in the query parameter \`${parameter.name}\``, expected: 'a header' },
        )
      }
    }
  },
})
