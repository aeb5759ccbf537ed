import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const headerLimitLow = defineCheck({
  code: 'header-limit-low',
  severity: 'warning',
  summary: 'a limit of headers that ordinary clients exceed',
  why: 'A browser behind a load balancer sends about 30 header lines, and a cookie with a token takes several kilobytes. Such requests get 431.',
  fix: 'Allow at least 40 lines (`http1MaxHeaders`) and 8 KiB (`http2MaxHeaderSize`).',
  bad: `frontend:
  http: { http1MaxHeaders: 10 }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `frontend:
  http: { http1MaxHeaders: 60 }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'frontend', 'http')) {
      if (config.http1MaxHeaders < 40) {
        report(
          { part: config, path: ['http1MaxHeaders'] },
          { found: `found ${config.http1MaxHeaders} header lines`, expected: 'at least 40' },
        )
      }
      if (config.http2MaxHeaderSize < 8_192) {
        report(
          { part: config, path: ['http2MaxHeaderSize'] },
          { found: `found ${config.http2MaxHeaderSize} bytes`, expected: 'at least 8192' },
        )
      }
    }
  },
})
