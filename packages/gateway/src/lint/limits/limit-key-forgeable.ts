import { defineCheck } from '../check.ts'
import { headersRead } from '../expressions.ts'
import { configsOf, formsOf } from '../subject.ts'

export const limitKeyForgeable = defineCheck({
  code: 'limit-key-forgeable',
  severity: 'warning',
  summary: 'a limit by an address that the client writes itself',
  why: 'A client that sends another `x-forwarded-for` with each request gets a new budget each time.',
  fix: 'Use `source.address`, and name your load balancers in `frontend.forwardedHeaders.trustedProxies` or use the PROXY protocol.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        rateLimit: { local: [{ requests: 60, unit: Minutes, key: 'request.headers["x-forwarded-for"]' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        rateLimit: { local: [{ requests: 60, unit: Minutes, key: source.address }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const policy of configsOf(subject, 'traffic', 'rateLimit')) {
      for (const { config, path } of formsOf(policy)) {
        for (const [index, { key }] of (config.local ?? []).entries()) {
          const name = (key === undefined ? [] : headersRead(key)).find((header) => ADDRESSES.has(header))
          if (name === undefined) continue
          report(
            { part: policy, path: [...path, 'local', index, 'key'] },
            { found: `found a key that reads \`${name}\``, expected: '`source.address`' },
          )
        }
      }
    }
  },
})

const ADDRESSES = new Set([
  'x-forwarded-for',
  'x-real-ip',
  'forwarded',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
])
