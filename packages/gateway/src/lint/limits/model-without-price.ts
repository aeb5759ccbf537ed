import { configuredPrices } from '../../compile/prices/configured-prices.ts'
import { defineCheck } from '../check.ts'
import { policyOf } from '../subject.ts'

export const modelWithoutPrice = defineCheck({
  code: 'model-without-price',
  severity: 'warning',
  summary: 'a model without a price under a budget in US dollars',
  why: 'The cost of a call is unknown, so it is refused with 403. With `unpriced: Allow` it is not counted at all.',
  fix: 'Add the `prices` policy to the backend, with a row for the model if no table has one.',
  bad: `config: { stateDir: state }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        budget: { limits: [{ name: team, usd: 10, per: Day }] }
      backends:
      - ai: { provider: { openai: { model: house-model-7 }, host: 127.0.0.1, port: 9000 } }
        policies: { prices: {} }
`,
  good: `config: { stateDir: state }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        budget: { limits: [{ name: team, usd: 10, per: Day }] }
      backends:
      - ai: { provider: { openai: { model: house-model-7 }, host: 127.0.0.1, port: 9000 } }
        policies:
          prices:
            models: [{ provider: openai, model: house-model-7, rates: { input: 1, output: 2 } }]
`,
  run({ routes, ir, now }, report) {
    const views = routes.filter(
      (view) => policyOf(view, 'budget')?.limits.some(({ usd }) => usd !== undefined) === true,
    )
    if (views.length === 0) return
    const prices = configuredPrices(ir, null, now)
    for (const view of views) {
      for (const { route, model, row } of prices) {
        if (route !== view.route.name || model === null || row !== null) continue
        report(
          { part: view.route },
          {
            found: `found the model \`${model}\` without a price under a budget in US dollars`,
            expected: 'a price in the policy `prices` of its backend',
          },
        )
      }
    }
  },
})
