import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const healthNeverEvicts = defineCheck({
  code: 'health-never-evicts',
  severity: 'warning',
  summary: 'an eviction whose condition is never met',
  why: 'A health score is never below 0, so `healthThreshold: 0` evicts nothing. Unhealthy addresses keep getting requests.',
  fix: 'Set `consecutiveFailures`, or a `healthThreshold` above 0.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - host: "127.0.0.1:9000"
        policies: { health: { eviction: { healthThreshold: 0 } } }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - host: "127.0.0.1:9000"
        policies: { health: { eviction: { consecutiveFailures: 3 } } }
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'backend', 'health')) {
      const { eviction } = config
      if (eviction?.healthThreshold !== 0 || (eviction.consecutiveFailures ?? 0) > 0) continue
      report(
        { part: config, path: ['eviction', 'healthThreshold'] },
        { found: 'found 0 as the only condition', expected: 'a condition that can be met' },
      )
    }
  },
})
