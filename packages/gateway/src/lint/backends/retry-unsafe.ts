import { defineCheck } from '../check.ts'
import { policyOf } from '../subject.ts'

export const retryUnsafe = defineCheck({
  code: 'retry-unsafe',
  severity: 'warning',
  summary: 'retries of requests that change something, after the backend may have done the work',
  why: 'A backend that responds with 500, 502 or 504 may have processed the request. A retry of a POST then creates the order twice. Status 503 and 429 say that nothing was done.',
  fix: 'Retry only 503 and 429, or give reads a route of their own with `method: GET`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        retry: { attempts: 2, codes: [500, 503] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - matches: [{ method: GET }]
      policies:
        retry: { attempts: 2, codes: [500, 503] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes }, report) {
    for (const view of routes) {
      const retry = policyOf(view, 'retry')
      if (retry === undefined || view.route.matches.every(({ method }) => method !== null && SAFE.has(method))) continue
      // Calls of models may be repeated: they change nothing.
      if (view.backends.every(({ backend }) => backend.target.kind === 'ai' || backend.target.kind === 'inferencePool'))
        continue
      const index = retry.codes.findIndex((code) => code >= 500 && code !== 503)
      if (index === -1) continue
      report(
        { part: retry, path: ['codes', index] },
        {
          found: `found retries after ${retry.codes[index] ?? 0} for all methods`,
          expected: '503 and 429 only, or a route of GET and HEAD',
        },
      )
    }
  },
})

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])
