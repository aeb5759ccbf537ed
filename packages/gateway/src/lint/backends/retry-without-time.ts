import { defineCheck } from '../check.ts'
import { policyOf } from '../subject.ts'

export const retryWithoutTime = defineCheck({
  code: 'retry-without-time',
  severity: 'warning',
  summary: 'retries whose pauses are longer than the whole request may take',
  why: 'The timeout of the request ends it during a pause, so the later retries never happen.',
  fix: 'Use fewer retries, a shorter `backoff`, or a longer `timeouts.request`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        timeouts: { request: 5s }
        retry: { attempts: 10, backoff: 1s }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        timeouts: { request: 5s }
        retry: { attempts: 3, backoff: 100ms }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes }, report) {
    for (const view of routes) {
      const retry = policyOf(view, 'retry')
      const whole = policyOf(view, 'timeouts')?.request
      if (retry?.backoff === undefined || whole === undefined || retry.backoff * retry.attempts < whole) continue
      report(
        { part: retry, path: ['backoff'] },
        {
          found: `found pauses of ${(retry.backoff * retry.attempts) / 1_000}s in a request of at most ${whole / 1_000}s`,
          expected: 'pauses that leave time for the retries',
        },
      )
    }
  },
})
