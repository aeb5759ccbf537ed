import { defineCheck } from '../check.ts'
import { configsOf, formsOf } from '../subject.ts'

export const rateLimitFailsOpen = defineCheck({
  code: 'rate-limit-fails-open',
  severity: 'warning',
  summary: 'a limit of tokens that does not hold while the rate limit service fails',
  why: 'Tokens cost money. While the service does not respond, clients use as many as they like.',
  fix: 'Use `failureMode: FailClosed`, or add a `local` limit that holds meanwhile.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        rateLimit:
          global:
            backendRef: { host: "127.0.0.1:9001" }
            domain: models
            failureMode: FailOpen
            descriptors: [{ entries: [{ name: all, expression: '"all"' }], unit: Tokens }]
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        rateLimit:
          global:
            backendRef: { host: "127.0.0.1:9001" }
            domain: models
            descriptors: [{ entries: [{ name: all, expression: '"all"' }], unit: Tokens }]
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  run(subject, report) {
    for (const policy of configsOf(subject, 'traffic', 'rateLimit')) {
      for (const { config, path } of formsOf(policy)) {
        const { global, local } = config
        if (global?.failureMode !== 'FailOpen' || local !== undefined) continue
        if (!global.descriptors.some(({ unit }) => unit === 'Tokens')) continue
        report(
          { part: policy, path: [...path, 'global', 'failureMode'] },
          { found: 'found FailOpen for a limit of tokens', expected: 'FailClosed, or a `local` limit beside it' },
        )
      }
    }
  },
})
