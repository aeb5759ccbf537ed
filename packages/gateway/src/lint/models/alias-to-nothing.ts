import { ModelNames } from '../../formats/model-names.ts'
import { defineCheck } from '../check.ts'

export const aliasToNothing = defineCheck({
  code: 'alias-to-nothing',
  severity: 'warning',
  summary: 'an alias for a model that is the name of another alias',
  why: 'Aliases are applied once. The provider is called with the name of the second alias, which it does not know.',
  fix: 'Write the name of the model at the provider.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        backend: { ai: { modelAliases: { fast: small, small: gpt-5-mini } } }
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        backend: { ai: { modelAliases: { fast: gpt-5-mini, small: gpt-5-mini } } }
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  run({ ir }, report) {
    for (const { backend } of ir.policies) {
      const config = backend?.ai
      const aliases = config?.modelAliases
      if (config === undefined || aliases === undefined) continue
      const names = new ModelNames(
        Object.keys(aliases)
          .filter((name) => name !== '*')
          .map((name) => ({ name })),
      )
      for (const [name, model] of Object.entries(aliases)) {
        const next = names.find(model)?.model.name
        if (next === undefined || next.includes('*') || next === name || aliases[next] === model) continue
        report(
          { part: config, path: ['modelAliases', name] },
          {
            found: `found \`${model}\`, which is an alias itself`,
            expected: `the model of the provider, such as \`${aliases[next] ?? ''}\``,
          },
        )
      }
    }
  },
})
