import { defineCheck } from '../check.ts'
import { readsOf } from '../expressions.ts'
import { isGuarded } from '../identity.ts'

export const cacheSharedByAll = defineCheck({
  code: 'cache-shared-by-all',
  severity: 'warning',
  summary: 'a response cache whose scope is the same for all clients of a protected route',
  why: 'A client gets the answer that the prompt of another client produced. Prompts and answers may hold data of one tenant only.',
  fix: 'Remove `scope`, or let it read the identity, such as `jwt.tenant`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { env: ANN_KEY } } } }
      backends:
      - ai: { provider: { mock: {} } }
        policies: { ai: { cache: { ttl: 10m, scope: '"all"' } } }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { env: ANN_KEY } } } }
      backends:
      - ai: { provider: { mock: {} } }
        policies: { ai: { cache: { ttl: 10m, scope: apiKey.team } } }
`,
  run({ routes }, report) {
    for (const view of routes) {
      if (!isGuarded(view)) continue
      for (const { policies } of view.backends) {
        const { ai } = policies
        if (ai?.cache?.scope === undefined || readsOf(ai.cache.scope, 'llmRequest').length > 0) continue
        report(
          { part: ai, path: ['cache', 'scope'] },
          {
            found: 'found a scope that is the same for all clients',
            expected: 'an expression that reads the identity',
          },
        )
      }
    }
  },
})
