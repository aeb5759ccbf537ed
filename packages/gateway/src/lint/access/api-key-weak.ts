import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const apiKeyWeak = defineCheck({
  code: 'api-key-weak',
  severity: 'warning',
  summary: 'an API key that can be guessed',
  why: 'A key is the only proof of who sends a request. Short keys, and keys that are words such as `changeme`, are found by trying.',
  fix: 'Create a random key of at least 16 characters, for example with `openssl rand -hex 24`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        # portico-lint-ignore secret-in-plain-text for the example
        apiKeyAuthentication: { secretRef: { data: { ann: changeme } } }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { env: ANN_KEY } } } }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'traffic', 'apiKeyAuthentication')) {
      for (const [name, { key }] of Object.entries(config.secretRef?.data ?? config.secretRef?.file ?? {})) {
        if (key === undefined || (key.length >= SHORTEST && !COMMON.test(key))) continue
        const path = config.secretRef?.data === undefined ? ['secretRef', 'file'] : ['secretRef', 'data', name]
        report(
          { part: config, path },
          {
            found: `found a key of ${key.length} characters that can be guessed`,
            expected: `a random key of at least 16 characters`,
          },
        )
      }
    }
  },
})

const SHORTEST = 12
const COMMON = /^(?:change-?me|secret|password|test|example|default|admin|api-?key|your[-_].*)[-_!\d]*$/i
