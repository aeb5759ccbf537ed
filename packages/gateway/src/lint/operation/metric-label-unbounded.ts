import { defineCheck } from '../check.ts'
import { readsOf } from '../expressions.ts'
import { configsOf } from '../subject.ts'

export const metricLabelUnbounded = defineCheck({
  code: 'metric-label-unbounded',
  severity: 'warning',
  summary: 'a label of metrics with a value that clients choose',
  why: 'Each new value makes new time series, in the gateway and in Prometheus. A client that sends many paths fills the memory of both.',
  fix: 'Use a label with few values, such as the route or a plan. Paths and addresses belong in the access log.',
  bad: `frontend:
  metrics: { attributes: { add: [{ name: path, expression: request.path }] } }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `frontend:
  metrics: { attributes: { add: [{ name: plan, expression: 'default(apiKey.plan, "none")' }] } }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'frontend', 'metrics')) {
      for (const [index, { expression }] of (config.attributes?.add ?? []).entries()) {
        const path = readsOf(expression, 'log').find((names) =>
          UNBOUNDED.some((each) => names.join('.').startsWith(each)),
        )
        // A comparison or a part has few values.
        if (path === undefined || expression.trim() !== path.join('.')) continue
        report(
          { part: config, path: ['attributes', 'add', index] },
          { found: `found \`${expression}\` as a label`, expected: 'a value that has few forms' },
        )
      }
    }
  },
})

const UNBOUNDED = [
  'request.path',
  'request.uri',
  'request.host',
  'source.address',
  'source.port',
  'mcp.sessionId',
  'request.startTime',
]
