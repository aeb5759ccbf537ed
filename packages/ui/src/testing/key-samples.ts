import type { KeyView, SpentBudgetView, TeamView } from '@portico/gateway/admin-api'

/** Keys and teams for tests and the gallery. */

const CREATED = '2026-11-01T12:00:00.000Z'

export function sampleKey(fields: Partial<KeyView> = {}): KeyView {
  return {
    ...{ id: 'k1', name: 'support-bot', state: 'active', version: 'v1', created: CREATED, changed: CREATED },
    secrets: [{ prefix: 'pk_live_ab12', created: CREATED }],
    ...fields,
  }
}

export function sampleTeam(name: string, fields: Partial<TeamView> = {}): TeamView {
  return { id: `t-${name}`, name, version: 'v1', created: CREATED, changed: CREATED, ...fields }
}

export function sampleBudget(fields: Partial<SpentBudgetView> = {}): SpentBudgetView {
  return { usd: 5, per: 'Day', spent: '0.50', left: '4.50', resetsAt: '2026-11-20T00:00:00.000Z', ...fields }
}
