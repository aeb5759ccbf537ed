import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const budgetForgotten = defineCheck({
  code: 'budget-forgotten',
  severity: 'warning',
  summary: 'budgets that begin anew with each start',
  why: 'Without a state folder or Redis, the gateway keeps in memory what was spent. A restart gives every client its whole budget back.',
  fix: 'Set `config.stateDir`, or `config.stores.redis` for several gateways.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        budget: { limits: [{ name: team, tokens: 100000, per: Month }] }
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  good: `config: { stateDir: state }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        budget: { limits: [{ name: team, tokens: 100000, per: Month }] }
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  run(subject, report) {
    const { stateDir, stores } = subject.process
    if (!subject.isFile || stateDir !== undefined || stores?.redis !== undefined) return
    for (const budget of configsOf(subject, 'traffic', 'budget')) {
      report(
        { part: budget },
        { found: 'found a budget that a restart forgets', expected: '`config.stateDir` or `config.stores.redis`' },
      )
    }
  },
})
