import { defineCheck } from '../check.ts'
import { duplicateMatches } from './duplicates.ts'

export const matchDuplicate = defineCheck({
  code: 'match-duplicate',
  severity: 'warning',
  summary: 'a match that occurs before, in the same route or in an earlier one',
  why: 'The earlier match takes every request, so this one does nothing. Often one of the two has a typing error.',
  fix: 'Remove the match, or correct the one that is wrong.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - name: shop
      matches:
      - path: { pathPrefix: /shop }
      - path: { pathPrefix: /cart }
      - path: { pathPrefix: /shop }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - name: shop
      matches:
      - path: { pathPrefix: /shop }
      - path: { pathPrefix: /cart }
      - path: { pathPrefix: /stock }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes }, report) {
    for (const { route, taken, total } of duplicateMatches(routes)) {
      if (taken.length === total) continue
      for (const { index, by } of taken) {
        const found =
          by === route.name ? 'found a match that this route has twice' : `found a match that the route \`${by}\` has`
        report({ part: route, path: ['matches', index] }, { found, expected: 'each match once' })
      }
    }
  },
})
