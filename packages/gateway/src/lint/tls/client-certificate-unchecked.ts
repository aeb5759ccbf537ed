import { defineCheck } from '../check.ts'
import { readsVariable } from '../expressions.ts'

export const clientCertificateUnchecked = defineCheck({
  code: 'client-certificate-unchecked',
  severity: 'warning',
  summary: 'client certificates that are requested, and that nothing reads',
  why: 'With `clientCertificates: Request`, clients without a certificate are let in. If no rule reads `source`, the certificate decides nothing.',
  fix: 'Use `Require`, or add a rule such as `{ require: has(source.certificate) }`.',
  bad: `binds:
- port: 8443
  listeners:
  - protocol: HTTPS
    tls: { cert: tls.crt, key: tls.key, root: ca.crt, clientCertificates: Request }
    routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8443
  listeners:
  - protocol: HTTPS
    tls: { cert: tls.crt, key: tls.key, root: ca.crt, clientCertificates: Require }
    routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ ir, frontend }, report) {
    for (const listener of ir.listeners) {
      const { tls } = listener
      if (tls === null || tls.root === null) continue
      if ((tls.clientCertificates ?? frontend.tls?.clientCertificates) !== 'Request') continue
      if (readsVariable(ir.policies, 'source\\.(?:certificate|identity)')) continue
      report(
        { part: listener, path: ['tls'] },
        {
          found: 'found client certificates that nothing requires or reads',
          expected: '`Require`, or a rule over `source.certificate`',
        },
      )
    }
  },
})
