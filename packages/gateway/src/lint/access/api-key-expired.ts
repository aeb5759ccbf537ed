import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const apiKeyExpired = defineCheck({
  code: 'api-key-expired',
  severity: 'warning',
  summary: 'an API key whose time is over',
  why: 'Requests with the key get 401. A key that nobody needs any more hides the ones that matter.',
  fix: 'Remove the key, or set a later `expires`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication:
          secretRef:
            data:
              ann:
                keyHash: "sha256:7f8c975d92f942290c6c416fa24708fd1c2ff253ded6526678caae76b0cc60cb"
                expires: "2020-01-31T00:00:00Z"
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication:
          secretRef:
            data:
              ann:
                keyHash: "sha256:7f8c975d92f942290c6c416fa24708fd1c2ff253ded6526678caae76b0cc60cb"
                expires: "2099-01-31T00:00:00Z"
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'traffic', 'apiKeyAuthentication')) {
      for (const [name, { expires }] of Object.entries(config.secretRef?.data ?? {})) {
        if (expires === undefined || expires > subject.now) continue
        const found = `found a key that ended on ${new Date(expires).toISOString().slice(0, 10)}`
        report({ part: config, path: ['secretRef', 'data', name] }, { found, expected: 'a key that is valid' })
      }
    }
  },
})
