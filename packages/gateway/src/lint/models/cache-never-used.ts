import { defineCheck } from '../check.ts'
import { policyOf } from '../subject.ts'

export const cacheNeverUsed = defineCheck({
  code: 'cache-never-used',
  severity: 'warning',
  summary: 'a response cache without `scope` on a route without authentication',
  why: 'Answers are shared only between requests of the same client. Requests without an identity bypass the cache, and the backend has a credential of its own, so clients send none.',
  fix: 'Authenticate the clients, or set `scope` to the value that may share answers.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - ai: { provider: { openai: { model: gpt-5 }, host: 127.0.0.1, port: 9000 } }
        policies:
          auth: { secretRef: { env: OPENAI_API_KEY } }
          ai: { cache: { ttl: 10m } }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { env: ANN_KEY } } } }
      backends:
      - ai: { provider: { openai: { model: gpt-5 }, host: 127.0.0.1, port: 9000 } }
        policies:
          auth: { secretRef: { env: OPENAI_API_KEY } }
          ai: { cache: { ttl: 10m } }
`,
  run({ routes }, report) {
    for (const view of routes) {
      if (IDENTITIES.some((name) => policyOf(view, name) !== undefined)) continue
      for (const { policies } of view.backends) {
        const { ai, auth } = policies
        if (ai?.cache === undefined || ai.cache.scope !== undefined) continue
        if (auth === undefined || auth.passthrough !== undefined) continue
        report(
          { part: ai, path: ['cache'] },
          {
            found: 'found a cache without `scope` for clients without an identity',
            expected: 'an authentication policy, or `scope`',
          },
        )
      }
    }
  },
})

const IDENTITIES = ['jwtAuthentication', 'mcpAuthentication', 'apiKeyAuthentication', 'basicAuthentication'] as const
