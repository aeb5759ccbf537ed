import { compileRegex } from '@portico/regex'
import { defineCheck } from '../check.ts'

export const regexSlow = defineCheck({
  code: 'regex-slow',
  severity: 'warning',
  summary: 'a large pattern of a match that the slower engine runs for each request',
  why: 'The gateway runs a pattern with the fast engine only if its time is provably linear. Other patterns run with RE2, whose time for each character grows with the size of the pattern.',
  fix: 'Use `pathPrefix` or `exact`, or write alternatives that begin with different characters, without `.*` between them.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - matches: [{ path: { regex: "/(.*a.{20}|.*b.{20}|.*c.{20})/.*" } }]
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - matches: [{ path: { regex: "/[a-c]/[0-9]+" } }]
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ ir }, report) {
    for (const route of ir.routes) {
      for (const [index, { path, headers, query }] of route.matches.entries()) {
        const values = [
          { at: ['path', 'regex'], kind: path.kind, value: path.value },
          ...headers.map(({ kind, value }, at) => ({ at: ['headers', at, 'value', 'regex'], kind, value })),
          ...query.map(({ kind, value }, at) => ({ at: ['query', at, 'value', 'regex'], kind, value })),
        ]
        for (const { at, kind, value } of values) {
          if (kind !== 'regex') continue
          const regex = compileRegex(value)
          if (!regex.ok || regex.engine === 'v8' || regex.size < LARGE) continue
          report(
            { part: route, path: ['matches', index, ...at] },
            {
              found: `found a pattern of ${regex.size} instructions`,
              expected: `a pattern that the fast engine runs, or one of fewer than ${LARGE}`,
            },
          )
        }
      }
    }
  },
})

const LARGE = 60
