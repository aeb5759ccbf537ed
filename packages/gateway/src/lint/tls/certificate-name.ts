import { defineCheck } from '../check.ts'
import { certificatesOf } from './certificates.ts'

export const certificateName = defineCheck({
  code: 'certificate-name',
  severity: 'error',
  summary: 'a certificate that does not have the hostname of its listener',
  why: 'Clients compare the name of the certificate with the host that they connect to, and refuse the connection.',
  fix: 'Use a certificate for the hostname of the listener.',
  bad: `binds:
- port: 8443
  listeners:
  - protocol: HTTPS
    hostname: shop.example.org
    tls: { cert: tls.crt, key: tls.key }
    routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8443
  listeners:
  - protocol: HTTPS
    hostname: shop.example.com
    tls: { cert: tls.crt, key: tls.key }
    routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const { certificate, target, isAuthority } of certificatesOf(subject)) {
      if (isAuthority || !('part' in target)) continue
      const listener = subject.ir.listeners.find((each) => each === target.part)
      if (listener === undefined || listener.hostname === '' || listener.hostname === '*') continue
      // A wildcard is met by any name below it.
      const name = listener.hostname.startsWith('*.') ? `any${listener.hostname.slice(1)}` : listener.hostname
      if (certificate.checkHost(name) !== undefined) continue
      // A wildcard listener may serve only the names that the certificate lists.
      if (
        listener.hostname.startsWith('*.') &&
        certificate.subjectAltName?.includes(listener.hostname.slice(1)) === true
      )
        continue
      report(target, {
        found: `found a certificate without \`${listener.hostname}\``,
        expected: 'the hostname of the listener in it',
      })
    }
  },
})
