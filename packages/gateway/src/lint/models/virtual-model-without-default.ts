import { defineCheck } from '../check.ts'

export const virtualModelWithoutDefault = defineCheck({
  code: 'virtual-model-without-default',
  severity: 'warning',
  summary: 'a virtual model that may find no target',
  why: 'Every target has a condition or weight 0. A request for which no condition is true is refused.',
  fix: 'Add a last target without `when`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - ai:
          models:
          - { name: small, provider: { mock: {} } }
          - name: house
            targets: [{ model: small, when: 'llm.promptTokens < 100' }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - ai:
          models:
          - { name: small, provider: { mock: {} } }
          - { name: large, provider: { mock: {} } }
          - name: house
            targets: [{ model: small, when: 'llm.promptTokens < 100' }, { model: large }]
`,
  run({ ir }, report) {
    for (const { target } of ir.backends) {
      if (target.kind !== 'ai') continue
      for (const model of target.models ?? []) {
        const { targets, name } = model
        if (targets === undefined || targets.some(({ when, weight }) => when === undefined && weight > 0)) continue
        const [first] = targets
        report(
          { part: first ?? targets },
          {
            found: `found only targets with conditions in the model \`${name}\``,
            expected: 'a last target without `when`',
          },
        )
      }
    }
  },
})
