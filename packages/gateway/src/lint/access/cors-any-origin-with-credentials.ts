import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const corsAnyOriginWithCredentials = defineCheck({
  code: 'cors-any-origin-with-credentials',
  severity: 'error',
  summary: 'a `cors` policy that lets every site read responses with credentials',
  why: 'With `*` and `allowCredentials`, any page can send requests with the cookies of its visitor and read the responses.',
  fix: 'List the origins of your own pages, or remove `allowCredentials`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        cors: { allowOrigins: ["*"], allowCredentials: true }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        cors: { allowOrigins: ["https://app.example.com"], allowCredentials: true }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'traffic', 'cors')) {
      const index = config.allowOrigins.findIndex((origin) => /^(?:\*|https?:\/\/\*)$/i.test(origin))
      if (index === -1 || !config.allowCredentials) continue
      report(
        { part: config, path: ['allowOrigins', index] },
        {
          found: `found \`${config.allowOrigins[index] ?? ''}\` with \`allowCredentials\``,
          expected: 'the origins of your own pages',
        },
      )
    }
  },
})
