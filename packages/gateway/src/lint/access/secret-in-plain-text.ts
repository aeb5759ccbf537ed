import { defineCheck } from '../check.ts'

export const secretInPlainText = defineCheck({
  code: 'secret-in-plain-text',
  severity: 'warning',
  summary: 'a secret in the text of the config',
  why: 'The config file is copied, committed and shown in reviews, and the secret with it.',
  fix: 'Put the secret into an environment variable (`{ env: NAME }` or `${NAME}`) or into a file (`{ file: path }`). Of API keys, the hash is enough (`keyHash`).',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: k-4f2a-93b1-77c0 } } }
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
  run({ secrets }, report) {
    for (const { path } of secrets) {
      report({ file: path }, { found: 'found a secret in plain text', expected: 'a variable, a file or a hash' })
    }
  },
})
