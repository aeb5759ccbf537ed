import { defineCheck } from '../check.ts'

export const methodLowerCase = defineCheck({
  code: 'method-lower-case',
  severity: 'warning',
  summary: 'a match of a method in lower case, which no client sends',
  why: 'Methods are case-sensitive: `get` is another method than `GET`, and the route does not match.',
  fix: 'Write the method in upper case.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - matches: [{ method: get }]
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - matches: [{ method: GET }]
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ ir }, report) {
    for (const route of ir.routes) {
      for (const [index, { method }] of route.matches.entries()) {
        const upper = method?.toUpperCase() ?? ''
        if (method === null || method === upper || !STANDARD.has(upper)) continue
        report(
          { part: route, path: ['matches', index, 'method'] },
          { found: `found \`${method}\``, expected: `\`${upper}\`` },
        )
      }
    }
  },
})

const STANDARD = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'])
