import { ModelNames } from '../../formats/model-names.ts'
import { defineCheck } from '../check.ts'

export const modelUnused = defineCheck({
  code: 'model-unused',
  severity: 'warning',
  summary: 'an internal model that no other model uses',
  why: 'Clients cannot use `Internal` models, so this one is never called.',
  fix: 'Name the model in the `targets` of another model, or make it `Public`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - ai:
          models:
          - { name: small, provider: { mock: {} } }
          - { name: large, provider: { mock: {} }, visibility: Internal }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - ai:
          models:
          - { name: small, provider: { mock: {} } }
          - { name: large, provider: { mock: {} }, visibility: Internal }
          - { name: house, targets: [{ model: large }, { model: small }] }
`,
  run({ ir }, report) {
    for (const backend of ir.backends) {
      if (backend.target.kind !== 'ai') continue
      const models = backend.target.models ?? []
      const names = new ModelNames(models)
      const used = new Set(
        models
          .flatMap(({ targets = [], fallback = {} }) => [
            ...targets.map(({ model }) => model),
            ...Object.values(fallback),
          ])
          .map((name) => names.find(name)?.model),
      )
      for (const [index, model] of models.entries()) {
        if (model.visibility !== 'Internal' || used.has(model)) continue
        report(
          { part: backend, path: ['ai', 'models', index] },
          {
            found: `found the internal model \`${model.name}\`, which no model uses`,
            expected: 'a model that names it in `targets`',
          },
        )
      }
    }
  },
})
