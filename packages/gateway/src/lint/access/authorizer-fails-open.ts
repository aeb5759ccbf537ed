import { defineCheck } from '../check.ts'
import { configsOf, formsOf } from '../subject.ts'

export const authorizerFailsOpen = defineCheck({
  code: 'authorizer-fails-open',
  severity: 'warning',
  summary: 'an external authorizer whose failure lets requests in',
  why: 'Whoever can overload or block the authorizer is let in without a decision.',
  fix: 'Use `failureMode: FailClosed`, or ignore this finding with the reason why the routes may be open.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        extAuth: { backendRef: { host: "127.0.0.1:9001" }, failureMode: FailOpen }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        extAuth: { backendRef: { host: "127.0.0.1:9001" } }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const section of ['traffic', 'backend'] as const) {
      for (const policy of configsOf(subject, section, 'extAuth')) {
        for (const { config, path } of formsOf(policy)) {
          if (config.failureMode !== 'FailOpen') continue
          report(
            { part: policy, path: [...path, 'failureMode'] },
            { found: 'found FailOpen', expected: 'FailClosed for an authorizer' },
          )
        }
      }
    }
  },
})
