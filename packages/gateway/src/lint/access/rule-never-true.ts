import { defineCheck } from '../check.ts'
import { identityVariables, setterOf, unsetIdentities } from '../identity.ts'
import { rulesIn, rulesOf, type LocatedRule } from '../subject.ts'

export const ruleNeverTrue = defineCheck({
  code: 'rule-never-true',
  severity: 'warning',
  summary: 'a rule that reads an identity which no policy of the route sets',
  why: 'Without the authentication policy, `jwt`, `apiKey` and `basicAuth` are absent on every request. An allow rule then never allows, a require rule denies everything, and a guarded deny rule never denies.',
  fix: 'Add the authentication policy to the route or to its listener, or remove the rule.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        authorization: { rules: [{ allow: 'default(apiKey.role, "") == "admin"' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { env: ANN_KEY } } } }
        authorization: { rules: [{ allow: 'default(apiKey.role, "") == "admin"' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes }, report) {
    // A rule of many routes is reported only if no route gives it an identity.
    const found = new Map<string, { rule: LocatedRule; names: Set<string> }>()
    const rules = routes.flatMap((view) => [
      ...rulesOf(view).map((rule) => ({ view, rule, phase: 'request' as const })),
      ...view.backends.flatMap(({ mcpRules }) =>
        mcpRules.flatMap(rulesIn).map((rule) => ({ view, rule, phase: 'mcp' as const })),
      ),
    ])
    const parts = new Map<object, number>()
    for (const { view, rule, phase } of rules) {
      const id = parts.get(rule.part) ?? parts.size
      parts.set(rule.part, id)
      const key = JSON.stringify([id, rule.path])
      const unset = new Set<string>(unsetIdentities(rule.expression, view, phase))
      const before = found.get(key)
      found.set(key, { rule, names: before === undefined ? unset : unset.intersection(before.names) })
    }
    for (const { rule, names } of found.values()) {
      for (const name of identityVariables) {
        if (!names.has(name)) continue
        const expected = `\`${setterOf(name)}\` on the route or its listener`
        report(
          { part: rule.part, path: rule.path },
          { found: `found a rule that reads \`${name}\`, which nothing sets`, expected },
        )
      }
    }
  },
})
