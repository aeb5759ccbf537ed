import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const tlsVerificationOff = defineCheck({
  code: 'tls-verification-off',
  severity: 'warning',
  summary: 'TLS to a backend without verification',
  why: 'Whoever is on the path can present any certificate, and read and change everything.',
  fix: 'Name the CA of the backend in `caCertificateRefs`, and its name in `sni` or `verifySubjectAltNames`.',
  bad: `backends:
- name: orders
  static: { host: orders.internal, port: 8443 }
  policies:
    tls: { insecureSkipVerify: All }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ backend: orders }]
`,
  good: `backends:
- name: orders
  static: { host: orders.internal, port: 8443 }
  policies:
    tls: { sni: orders.internal }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ backend: orders }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'backend', 'tls')) {
      if (config.insecureSkipVerify === undefined) continue
      const what = config.insecureSkipVerify === 'All' ? 'any certificate' : 'certificates of any name'
      report(
        { part: config, path: ['insecureSkipVerify'] },
        { found: `found TLS that accepts ${what}`, expected: 'verification' },
      )
    }
  },
})
