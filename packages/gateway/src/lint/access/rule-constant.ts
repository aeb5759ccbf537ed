import { defineCheck } from '../check.ts'
import { readsOf } from '../expressions.ts'
import { rulesOf } from '../subject.ts'

export const ruleConstant = defineCheck({
  code: 'rule-constant',
  severity: 'warning',
  summary: 'an authorization rule that reads nothing of the request',
  why: 'Such a rule decides the same for every request. `allow: "true"` makes all other allow rules pointless, and `deny: "true"` closes the route.',
  fix: 'Let the rule read the request or the identity of the client. To close a route on purpose, use `directResponse`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        authorization: { rules: [{ allow: "true" }, { allow: 'request.method == "GET"' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        authorization: { rules: [{ allow: 'request.method == "GET"' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes }, report) {
    for (const { expression, mode, part, path } of routes.flatMap(rulesOf)) {
      if (readsOf(expression).length > 0) continue
      report(
        { part, path },
        {
          found: `found ${mode === 'allow' ? 'an' : 'a'} ${mode} rule that is the same for every request`,
          expected: 'a rule that reads `request`, `source` or an identity',
        },
      )
    }
  },
})
