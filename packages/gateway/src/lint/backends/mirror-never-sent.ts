import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const mirrorNeverSent = defineCheck({
  code: 'mirror-never-sent',
  severity: 'warning',
  summary: 'a mirror that gets no requests',
  why: 'With 0 percent, no request is copied.',
  fix: 'Set a percentage above 0, or remove the policy.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        requestMirror: { backend: "127.0.0.1:9001", percentage: 0 }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        requestMirror: { backend: "127.0.0.1:9001", percentage: 5 }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'traffic', 'requestMirror')) {
      const places = [
        { path: ['percentage'], percentage: config.percentage },
        ...(config.others ?? []).map(({ percentage }, index) => ({
          path: ['others', index, 'percentage'],
          percentage,
        })),
      ]
      for (const { path, percentage } of places) {
        if (percentage === 0)
          report({ part: config, path }, { found: 'found 0 percent', expected: 'a percentage above 0' })
      }
    }
  },
})
