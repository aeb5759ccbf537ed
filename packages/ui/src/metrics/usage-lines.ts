import type { UsageRow, UsageSums } from '@portico/gateway/admin-api'

export const USAGE_GROUPS = ['model', 'key', 'route'] as const
/** The field that rows are grouped by. */
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** A line of the table: the sum of several rows. */
export interface UsageLine extends UsageSums {
  readonly id: string
  /** Undefined when the rows have several. */
  readonly provider?: string
  readonly model?: string
  readonly key?: string | null
  readonly route?: string | null
  readonly estimatedCalls: number
  readonly silentCalls: number
  readonly rows: readonly UsageRow[]
}

/** The lines of the table, most tokens first. Without a group there is a line for each model, key and route. */
export function usageLines(rows: readonly UsageRow[], by: UsageGroup | null): UsageLine[] {
  const groups = new Map<string, { named: UsageNames; rows: UsageRow[] }>()
  for (const row of rows) {
    const named = namedBy(row, by)
    const id = JSON.stringify(Object.values(named))
    const group = groups.get(id)
    if (group === undefined) groups.set(id, { named, rows: [row] })
    else group.rows.push(row)
  }
  return [...groups]
    .map(([id, group]) => ({ id, ...group.named, ...sumOf(group.rows), rows: group.rows }))
    .toSorted((a, b) => b.input + b.output - a.input - a.output || b.calls - a.calls)
}

type UsageNames = Pick<UsageLine, 'provider' | 'model' | 'key' | 'route'>

function namedBy({ provider, model, key, route }: UsageRow, by: UsageGroup | null): UsageNames {
  switch (by) {
    case 'model':
      return { provider, model }
    case 'key':
      return { key }
    case 'route':
      return { route }
    case null:
      return { provider, model, key, route }
  }
}

export function sumOf(rows: readonly UsageRow[]): Omit<UsageLine, 'id' | 'rows' | keyof UsageNames> {
  const sum = (field: SumField): number => rows.reduce((total, row) => total + row[field], 0)
  return {
    ...{ calls: sum('calls'), input: sum('input'), output: sum('output') },
    ...{ cacheRead: sum('cacheRead'), cacheWrite: sum('cacheWrite'), reasoning: sum('reasoning') },
    ...{ estimatedCalls: sum('estimatedCalls'), silentCalls: sum('silentCalls') },
  }
}

type SumField = keyof UsageSums | 'estimatedCalls' | 'silentCalls'

/** The source of the token counts: the provider, the gateway, or none. */
export function usageSource({ calls, estimatedCalls, silentCalls }: Omit<UsageLine, 'id' | 'rows'>): string {
  const parts = [
    part(estimatedCalls, calls, 'counted by the gateway'),
    part(silentCalls, calls, 'without figures'),
  ].filter((words) => words !== '')
  return parts.length === 0 ? 'reported by the provider' : parts.join(', ')
}

function part(some: number, all: number, words: string): string {
  if (some === 0) return ''
  return some === all ? words : `${some.toLocaleString('en-US')} of ${all.toLocaleString('en-US')} ${words}`
}
