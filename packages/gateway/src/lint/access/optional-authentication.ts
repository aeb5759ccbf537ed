import { defineCheck } from '../check.ts'
import { readsVariable } from '../expressions.ts'
import { policyOf } from '../subject.ts'

export const optionalAuthentication = defineCheck({
  code: 'optional-authentication',
  severity: 'warning',
  summary: 'an authentication that lets every client in, and whose result nothing reads',
  why: 'With `Optional` and `Permissive`, requests without a credential pass. If no rule, limit or header uses the identity, the policy protects nothing.',
  fix: 'Use `mode: Strict`, or add rules that read the identity.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication:
          mode: Optional
          secretRef: { data: { ann: { env: ANN_KEY } } }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication:
          mode: Optional
          secretRef: { data: { ann: { env: ANN_KEY } } }
        authorization: { rules: [{ require: 'request.method == "GET" || has(apiKey.name)' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ routes, frontend, ir }, report) {
    for (const view of routes) {
      for (const [name, variable] of VARIABLES) {
        const config = policyOf(view, name)
        if (config === undefined || config.mode === 'Strict') continue
        const { traffic, early, backends } = view
        const others = Object.entries({ ...traffic }).filter(([other]) => other !== name)
        const calls = traffic.extAuth !== undefined || traffic.extProc !== undefined || early.extAuth !== undefined
        const readers = [
          others,
          early.authorization,
          backends.map(({ policies, mcpRules }) => [policies, mcpRules]),
          frontend,
        ]
        const targets = backends.map(({ backend }) => backend.target)
        // The keys of the store have models, limits and budgets of their own.
        const hasStore = 'store' in config && config.store !== undefined
        if (calls || hasStore || readsVariable([readers, targets], variable)) continue
        if (ir.policies.some(({ backend }) => backend?.auth?.passthrough !== undefined)) continue
        report(
          { part: config },
          {
            found: `found mode ${config.mode}, and nothing that reads \`${variable}\``,
            expected: '`mode: Strict`, or rules over the identity',
          },
        )
      }
    }
  },
})

const VARIABLES = [
  ['jwtAuthentication', 'jwt'],
  ['mcpAuthentication', 'jwt'],
  ['apiKeyAuthentication', 'apiKey'],
  ['basicAuthentication', 'basicAuth'],
] as const
