import { defineCheck } from '../check.ts'
import { setterOf, unsetIdentities } from '../identity.ts'
import { formsOf, policyOf } from '../subject.ts'

export const limitKeyUnset = defineCheck({
  code: 'limit-key-unset',
  severity: 'warning',
  summary: 'a limit whose key reads an identity that no policy of the route sets',
  why: 'The expression fails for every request, and requests for which it fails share one budget: all clients together get what one was meant to get.',
  fix: 'Add the authentication policy to the route, or use another key, such as `source.address`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        rateLimit: { local: [{ requests: 60, unit: Minutes, key: apiKey.name }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { env: ANN_KEY } } } }
        rateLimit: { local: [{ requests: 60, unit: Minutes, key: apiKey.name }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes }, report) {
    for (const view of routes) {
      const limit = policyOf(view, 'rateLimit')
      const budget = policyOf(view, 'budget')
      const keys = [
        ...(limit === undefined ? [] : formsOf(limit)).flatMap(({ config, path }) =>
          (config.local ?? []).map(({ key }, index) => ({
            part: limit ?? {},
            path: [...path, 'local', index, 'key'],
            key,
          })),
        ),
        ...(budget?.limits ?? []).map(({ key }, index) => ({
          part: budget ?? {},
          path: ['limits', index, 'key'],
          key,
        })),
      ]
      for (const { part, path, key } of keys) {
        for (const name of key === undefined ? [] : unsetIdentities(key, view)) {
          report(
            { part, path },
            {
              found: `found a key that reads \`${name}\`, which nothing sets`,
              expected: `\`${setterOf(name)}\` on the route`,
            },
          )
        }
      }
    }
  },
})
