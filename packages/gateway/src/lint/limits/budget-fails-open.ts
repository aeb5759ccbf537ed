import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const budgetFailsOpen = defineCheck({
  code: 'budget-fails-open',
  severity: 'warning',
  summary: 'budgets that do not hold while Redis does not respond',
  why: 'With `failureMode: Open`, calls pass and are counted later. The money is spent by then.',
  fix: 'Use `failureMode: Closed`, or ignore this finding with the amount that you accept to lose.',
  bad: `config:
  stores: { redis: { url: "redis://127.0.0.1:6379", failureMode: Open } }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        budget: { limits: [{ name: team, tokens: 100000, per: Day }] }
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  good: `config:
  stores: { redis: { url: "redis://127.0.0.1:6379" } }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        budget: { limits: [{ name: team, tokens: 100000, per: Day }] }
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  run(subject, report) {
    if (subject.process.stores?.redis?.failureMode !== 'Open') return
    if (configsOf(subject, 'traffic', 'budget').length === 0) return
    report(
      { file: ['config', 'stores', 'redis', 'failureMode'] },
      { found: 'found Open with budgets', expected: 'Closed' },
    )
  },
})
