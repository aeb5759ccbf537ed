import type { UsageRow, UsageSums } from '@portico/gateway/admin-api'

export const USAGE_GROUPS = ['model', 'key', 'route'] as const
/** By what rows are put together. */
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** Rows that are shown as one. */
export interface UsageLine extends UsageSums {
  readonly id: string
  /** Undefined where they have several. */
  readonly provider?: string
  readonly model?: string
  readonly key?: string | null
  readonly route?: string | null
  readonly estimatedCalls: number
  readonly silentCalls: number
  readonly rows: readonly UsageRow[]
}

/** The most tokens first; null has a line for each model, key and route. */
export function usageLines(rows: readonly UsageRow[], by: UsageGroup | null): UsageLine[] {
  const groups = new Map<string, { named: Named; rows: UsageRow[] }>()
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

type Named = Pick<UsageLine, 'provider' | 'model' | 'key' | 'route'>

function namedBy({ provider, model, key, route }: UsageRow, by: UsageGroup | null): Named {
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

export function sumOf(rows: readonly UsageRow[]): Omit<UsageLine, 'id' | 'rows' | keyof Named> {
  const sum = (field: SumField): number => rows.reduce((total, row) => total + row[field], 0)
  return {
    ...{ calls: sum('calls'), input: sum('input'), output: sum('output') },
    ...{ cacheRead: sum('cacheRead'), cacheWrite: sum('cacheWrite'), reasoning: sum('reasoning') },
    ...{ estimatedCalls: sum('estimatedCalls'), silentCalls: sum('silentCalls') },
  }
}

type SumField = keyof UsageSums | 'estimatedCalls' | 'silentCalls'

/** Who counted the tokens. */
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
