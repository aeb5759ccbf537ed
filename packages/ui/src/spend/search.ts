/** The fields that calls can be grouped by, with their names on the page. */
export const SPEND_GROUPS = {
  model: 'Model',
  key: 'Key',
  team: 'Team',
  route: 'Route',
  provider: 'Provider',
  requestedModel: 'Requested model',
  day: 'Day',
} as const

export type SpendGroup = keyof typeof SPEND_GROUPS

export const SPEND_RANGES = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  '365d': '1 year',
} as const
export type SpendRange = keyof typeof SPEND_RANGES

/** The heights of the bars of the chart. */
export const MEASURES = { cost: 'Cost', tokens: 'Tokens', calls: 'Calls' } as const
export type Measure = keyof typeof MEASURES

/** The periods of the calendar that a forecast is for; budgets have them, too. */
export const PERIODS = { month: 'month', week: 'week', day: 'day' } as const
export type Period = keyof typeof PERIODS

/** The state of the page, as its address holds it. Defaults are not in the address. */
interface SpendSearch {
  last?: SpendRange
  /** Names of `SPEND_GROUPS`, with commas between them. */
  per?: string
  show?: Measure
  period?: Period
}

export const DEFAULTS = { last: '30d', per: 'model', show: 'cost', period: 'month' } as const

/** Anyone can write an address: invalid values are dropped. */
export function readSpendSearch(search: Record<string, unknown>): SpendSearch {
  const per = groupsIn(typeof search['per'] === 'string' ? search['per'] : '').join()
  const last = nameIn(SPEND_RANGES, search['last'])
  const show = nameIn(MEASURES, search['show'])
  const period = nameIn(PERIODS, search['period'])
  return {
    ...(last !== undefined && last !== DEFAULTS.last && { last }),
    ...(per !== '' && per !== DEFAULTS.per && { per }),
    ...(show !== undefined && show !== DEFAULTS.show && { show }),
    ...(period !== undefined && period !== DEFAULTS.period && { period }),
  }
}

/** The groups of an address, each once. */
export function groupsIn(per: string): SpendGroup[] {
  return [...new Set(per.split(','))].flatMap((name) => nameIn(SPEND_GROUPS, name) ?? [])
}

/** The groups after a click: a new group is added at the end, and the last group stays. */
export function toggleGroup(groups: readonly SpendGroup[], clicked: SpendGroup): SpendGroup[] {
  if (!groups.includes(clicked)) return [...groups, clicked]
  return groups.length === 1 ? [...groups] : groups.filter((name) => name !== clicked)
}

function nameIn<Names extends object>(names: Names, value: unknown): (keyof Names & string) | undefined {
  return typeof value === 'string' && Object.hasOwn(names, value) ? (value as keyof Names & string) : undefined
}
