import { defineCheck } from '../check.ts'
import { certificatesOf } from './certificates.ts'

export const certificateEnds = defineCheck({
  code: 'certificate-ends',
  severity: 'error',
  summary: 'a certificate that ends within 30 days, or has ended',
  why: 'From that moment, clients refuse to connect, or the gateway refuses the backend.',
  fix: 'Renew the certificate. The gateway reads the file again when it changes.',
  bad: `binds:
- port: 8443
  listeners:
  - protocol: HTTPS
    tls: { cert: ends-soon.crt, key: ends-soon.key }
    routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8443
  listeners:
  - protocol: HTTPS
    tls: { cert: tls.crt, key: tls.key }
    routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const { certificate, target } of certificatesOf(subject)) {
      const days = (Date.parse(certificate.validTo) - subject.now) / DAY
      if (days > 30) continue
      const date = new Date(certificate.validTo).toISOString().slice(0, 10)
      const found =
        days < 0
          ? `found a certificate that ended on ${date}`
          : `found a certificate that ends on ${date}, in ${Math.floor(days)} days`
      report(target, { found, expected: 'at least 30 days' })
    }
  },
})

const DAY = 86_400_000
