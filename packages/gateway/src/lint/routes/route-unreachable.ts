import { defineCheck } from '../check.ts'
import { duplicateMatches } from './duplicates.ts'

export const routeUnreachable = defineCheck({
  code: 'route-unreachable',
  severity: 'warning',
  summary: 'a route that no request reaches, because earlier routes have the same matches',
  why: 'When two routes match equally well, the first of the list serves the request. A route whose every match occurs before serves none.',
  fix: 'Remove the route, or give it a match that the earlier route does not have.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - name: shop
      matches: [{ path: { pathPrefix: /shop } }]
      backends: [{ host: "127.0.0.1:9001" }]
    - name: shop-next
      matches: [{ path: { pathPrefix: /shop/ } }]
      backends: [{ host: "127.0.0.1:9002" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - name: shop
      matches: [{ path: { pathPrefix: /shop } }]
      backends: [{ host: "127.0.0.1:9001" }]
    - name: shop-next
      matches: [{ path: { pathPrefix: /shop }, headers: [{ name: x-next, value: { exact: "1" } }] }]
      backends: [{ host: "127.0.0.1:9002" }]
`,
  run({ routes }, report) {
    for (const { route, taken, total } of duplicateMatches(routes)) {
      const [first] = taken
      if (first === undefined || taken.length < total) continue
      report(
        { part: route },
        {
          found: `found a route whose matches the route \`${first.by}\` has before it`,
          expected: 'a match of its own',
        },
      )
    }
  },
})
