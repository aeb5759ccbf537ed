import { defineCheck } from '../check.ts'
import { isPrivate } from '../hosts.ts'

export const credentialOverHttp = defineCheck({
  code: 'credential-over-http',
  severity: 'warning',
  summary: 'a credential that the gateway sends to a public host without TLS',
  why: 'Everyone between the gateway and the backend can read the credential.',
  fix: 'Add `tls: {}` to the policies of the backend.',
  bad: `backends:
- name: crm
  static: { host: api.example.com, port: 80 }
  policies:
    auth: { secretRef: { env: CRM_TOKEN } }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ backend: crm }]
`,
  good: `backends:
- name: crm
  static: { host: api.example.com, port: 443 }
  policies:
    auth: { secretRef: { env: CRM_TOKEN } }
    tls: {}
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ backend: crm }]
`,
  run({ routes }, report) {
    for (const { backends } of routes) {
      for (const { backend, policies } of backends) {
        const { auth, tls } = policies
        if (auth === undefined || tls !== undefined || backend.target.kind !== 'static') continue
        const { host } = backend.target
        if (isPrivate(host)) continue
        report({ part: auth }, { found: `found a credential for ${host} without TLS`, expected: '`tls` beside `auth`' })
      }
    }
  },
})
