import { defineCheck } from '../check.ts'

export const forwardProxyPrivate = defineCheck({
  code: 'forward-proxy-private',
  severity: 'warning',
  summary: 'a dynamic forward proxy that may call this machine or the metadata service of a cloud',
  why: 'Clients reach services that trust their own machine: admin ports on loopback, and credentials at 169.254.169.254.',
  fix: 'Allow only the ranges of the networks that clients need.',
  bad: `binds:
- port: 8080
  address: 127.0.0.1
  listeners:
  - routes:
    - backends: [{ dynamicForwardProxy: { allowCidrs: [0.0.0.0/0] } }]
`,
  good: `binds:
- port: 8080
  address: 127.0.0.1
  listeners:
  - routes:
    - backends: [{ dynamicForwardProxy: { allowCidrs: [10.1.0.0/16] } }]
`,
  run({ ir }, report) {
    for (const backend of ir.backends) {
      if (backend.target.kind !== 'dynamicForwardProxy') continue
      for (const [index, cidr] of backend.target.allowCidrs.entries()) {
        if (!/^(?:0\.|127\.|169\.254\.|::1?(?:\/|$)|fe80:)/i.test(cidr)) continue
        report(
          { part: backend, path: ['dynamicForwardProxy', 'allowCidrs', index] },
          { found: `found the range ${cidr}`, expected: 'ranges without loopback and link-local addresses' },
        )
      }
    }
  },
})
