import { defineCheck } from '../check.ts'

export const forwardedHeadersTrusted = defineCheck({
  code: 'forwarded-headers-trusted',
  severity: 'warning',
  summary: '`x-forwarded-*` headers that are trusted from every peer',
  why: 'Every client can then claim any address, host and scheme. Rules, limits and logs over these are worth nothing.',
  fix: 'Use `mode: Replace` and name the addresses of your load balancers in `trustedProxies`.',
  bad: `frontend:
  forwardedHeaders: { mode: Append }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `frontend:
  forwardedHeaders: { trustedProxies: [10.0.0.0/8] }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ ir }, report) {
    for (const { frontend } of ir.policies) {
      const config = frontend?.forwardedHeaders
      if (config === undefined) continue
      const all = config.trustedProxies.findIndex((cidr) => /\/0$/.test(cidr))
      if (config.mode !== 'Replace') {
        report(
          { part: config, path: ['mode'] },
          { found: `found mode ${config.mode}`, expected: 'Replace, with `trustedProxies`' },
        )
      } else if (all !== -1) {
        report(
          { part: config, path: ['trustedProxies', all] },
          { found: 'found every address', expected: 'the addresses of your load balancers' },
        )
      }
    }
  },
})
