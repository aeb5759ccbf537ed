import type { RequestRecord } from '../recorder/record.ts'
import type { HistoryRange, UsageRow, UsageView } from './series-view.ts'

interface UsageParts {
  range: HistoryRange
  now: number
  /** From here on every record is there. */
  completeSince: number
  /** Newest first. */
  records: Iterable<RequestRecord>
}

type Counted = { -readonly [Field in keyof UsageRow]: UsageRow[Field] }

/** Who used how many tokens of which model where, of what is recorded. */
export function usageOf({ range, now, completeSince, records }: UsageParts): UsageView {
  const since = now - RANGE_MILLIS[range]
  const rows = new Map<string, Counted>()
  for (const { at, llm, key, route } of records) {
    if (at < since) break
    if (llm === null || llm.provider === '') continue
    const model = llm.responseModel === '' ? llm.requestModel : llm.responseModel
    const name = JSON.stringify([llm.provider, model, key, route])
    let row = rows.get(name)
    if (row === undefined) rows.set(name, (row = nothingOf(llm.provider, model, { key, route })))
    row.calls++
    row.input += llm.inputTokens ?? 0
    row.output += llm.outputTokens ?? 0
    row.cacheRead += llm.cacheReadTokens ?? 0
    row.cacheWrite += llm.cacheWriteTokens ?? 0
    if (llm.isEstimated || (llm.inputTokens === null && llm.outputTokens === null)) row.estimatedCalls++
  }
  const sorted = [...rows.values()].toSorted((a, b) => b.input + b.output - a.input - a.output || b.calls - a.calls)
  return {
    range,
    now,
    completeSince: Math.max(since, completeSince),
    rows: sorted.slice(0, MOST_ROWS),
    omitted: Math.max(0, sorted.length - MOST_ROWS),
  }
}

const MOST_ROWS = 500
const MINUTE = 60_000
const RANGE_MILLIS: Readonly<Record<HistoryRange, number>> = {
  '15m': 15 * MINUTE,
  '3h': 180 * MINUTE,
  '24h': 1440 * MINUTE,
}

function nothingOf(provider: string, model: string, { key, route }: Pick<UsageRow, 'key' | 'route'>): Counted {
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  return { provider, model, route, key, calls: 0, ...tokens, estimatedCalls: 0 }
}
