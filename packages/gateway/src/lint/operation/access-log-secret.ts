import { isSecretHeader } from '../../redaction/secret-names.ts'
import { defineCheck } from '../check.ts'
import { headersRead } from '../expressions.ts'
import { configsOf } from '../subject.ts'

export const accessLogSecret = defineCheck({
  code: 'access-log-secret',
  severity: 'warning',
  summary: 'a credential in the access log, in traces or in metrics',
  why: 'Logs are kept for long and read by many. A credential in them is a credential that leaks.',
  fix: 'Log who the client is (`apiKey.name`, `jwt.sub`), not what the client sent.',
  bad: `frontend:
  accessLog: { attributes: { add: [{ name: cookie, expression: 'request.headers["cookie"]' }] } }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `frontend:
  accessLog: { attributes: { add: [{ name: agent, expression: 'request.headers["user-agent"]' }] } }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const name of ['accessLog', 'tracing', 'metrics'] as const) {
      for (const config of configsOf(subject, 'frontend', name)) {
        const added = 'attributes' in config ? ((config.attributes as { add?: unknown } | undefined)?.add ?? []) : []
        for (const [index, { expression }] of (added as { expression: string }[]).entries()) {
          const header = headersRead(expression, 'log').find((each) => isSecretHeader(each) || each === 'cookie')
          // Parts of the header, such as its length or a hash, are computed on purpose.
          if (header === undefined || !/^\s*(?:default\()?\s*request\.headers[.[]/.test(expression)) continue
          report(
            { part: config, path: ['attributes', 'add', index] },
            { found: `found the header \`${header}\``, expected: 'a value that is no credential' },
          )
        }
      }
    }
  },
})
