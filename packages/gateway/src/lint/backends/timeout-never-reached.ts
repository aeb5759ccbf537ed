import { defineCheck } from '../check.ts'
import { policyOf } from '../subject.ts'

export const timeoutNeverReached = defineCheck({
  code: 'timeout-never-reached',
  severity: 'warning',
  summary: 'a timeout that is longer than the one around it',
  why: 'The outer timeout ends the request first, so the inner one does nothing. Retries never happen, because no time is left for them.',
  fix: 'Make the inner timeout shorter: `tcp.connectTimeout` < `http.requestTimeout` < `timeouts.request`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        timeouts: { request: 5s }
      backends:
      - host: "127.0.0.1:9000"
        policies: { http: { requestTimeout: 10s } }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        timeouts: { request: 15s }
      backends:
      - host: "127.0.0.1:9000"
        policies: { http: { requestTimeout: 10s } }
`,
  run({ routes }, report) {
    for (const view of routes) {
      const whole = policyOf(view, 'timeouts')?.request
      for (const { policies } of view.backends) {
        const { http, tcp } = policies
        const attempt = http?.requestTimeout
        if (http !== undefined && attempt !== undefined && whole !== undefined && attempt >= whole) {
          report(
            { part: http, path: ['requestTimeout'] },
            {
              found: `found ${secondsText(attempt)}, while \`timeouts.request\` is ${secondsText(whole)}`,
              expected: 'a shorter timeout of one attempt',
            },
          )
        }
        const outer = [attempt, whole].filter((each) => each !== undefined)
        const connect = tcp?.connectTimeout
        if (tcp === undefined || connect === undefined || outer.length === 0 || connect < Math.min(...outer)) continue
        report(
          { part: tcp, path: ['connectTimeout'] },
          {
            found: `found ${secondsText(connect)}, while the request ends after ${secondsText(Math.min(...outer))}`,
            expected: 'a shorter timeout of connecting',
          },
        )
      }
    }
  },
})

function secondsText(milliseconds: number): string {
  return `${milliseconds / 1_000}s`
}
