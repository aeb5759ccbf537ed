import type { RecordedLlm, RequestRecord } from '../recorder/record.ts'
import {
  type HistoryRange,
  PROMPT_SIZES,
  type SizedUsage,
  type UsageRow,
  type UsageSums,
  type UsageView,
} from './series-view.ts'

interface UsageParts {
  range: HistoryRange
  now: number
  /** Since this time no record was overwritten. */
  completeSince: number
  /** Newest first. */
  records: Iterable<UsedRecord>
}

/** The fields of a record that the usage needs. */
export type UsedRecord = Pick<RequestRecord, 'at' | 'status' | 'llm' | 'key' | 'route' | 'keys'>

/** The fields that identify a row. */
type RowKey = Pick<UsageRow, 'provider' | 'backend' | 'providerName' | 'model' | 'key' | 'route'>

/** Sums the token usage of the records by client, model and route. */
export function usageOf({ range, now, completeSince, records }: UsageParts): UsageView {
  const since = now - RANGE_MILLIS[range]
  const rows = new Map<string, RowSum>()
  for (const record of records) {
    if (record.at < since) break
    const { llm } = record
    if (llm === null || !isUse(llm)) continue
    const named = namesOf(record, llm)
    const name = JSON.stringify(Object.values(named))
    let row = rows.get(name)
    if (row === undefined) rows.set(name, (row = new RowSum(named)))
    row.add(llm, record.status)
  }
  const sorted = [...rows.values()]
    .map((row) => row.view())
    .toSorted((a, b) => b.input + b.output - a.input - a.output || b.calls - a.calls)
  return {
    range,
    now,
    completeSince: Math.max(since, completeSince),
    rows: sorted.slice(0, MOST_ROWS),
    omitted: Math.max(0, sorted.length - MOST_ROWS),
  }
}

/** Whether a call uses tokens; lists of models and token counts do not. */
function isUse({ provider, operation, requestModel, responseModel, inputTokens, outputTokens }: RecordedLlm): boolean {
  if (provider === '' || operation === 'count_tokens') return false
  const isNamed = requestModel !== '' || responseModel !== ''
  return operation !== null || isNamed || inputTokens !== null || outputTokens !== null
}

function namesOf({ key, route, keys }: UsedRecord, llm: RecordedLlm): RowKey {
  const { provider, providerName, requestModel, responseModel } = llm
  const model = responseModel === '' ? requestModel : responseModel
  return { provider, backend: keys.backend, providerName, model, key, route }
}

/** The sums of one row. */
class RowSum {
  readonly #named: RowKey
  readonly #all = noSums()
  readonly #sizes = PROMPT_SIZES.map(noSums)
  #estimatedCalls = 0
  #silentCalls = 0

  constructor(named: RowKey) {
    this.#named = named
  }

  add(llm: RecordedLlm, status: number): void {
    const size = PROMPT_SIZES.findLastIndex((over) => (llm.inputTokens ?? 0) > over)
    const sized = this.#sizes[Math.max(0, size)]
    add(this.#all, llm)
    if (sized !== undefined) add(sized, llm)
    if (llm.isEstimated) this.#estimatedCalls++
    else if (isSilent(llm) && status >= 200 && status < 300) this.#silentCalls++
  }

  view(): UsageRow {
    const sizes = this.#sizes.flatMap((sums, at): SizedUsage[] =>
      sums.calls === 0 ? [] : [{ over: PROMPT_SIZES[at] ?? 0, ...sums }],
    )
    const told = { estimatedCalls: this.#estimatedCalls, silentCalls: this.#silentCalls }
    return { ...this.#named, ...this.#all, ...told, sizes }
  }
}

/** Whether the provider reported no usage. An answer from the cache has none. */
function isSilent({ inputTokens, outputTokens, cache }: RecordedLlm): boolean {
  return inputTokens === null && outputTokens === null && cache?.status !== 'hit'
}

type Sums = { -readonly [Field in keyof UsageSums]: number }

function noSums(): Sums {
  return { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
}

function add(sums: Sums, llm: RecordedLlm): void {
  sums.calls++
  sums.input += llm.inputTokens ?? 0
  sums.output += llm.outputTokens ?? 0
  sums.cacheRead += llm.cacheReadTokens ?? 0
  sums.cacheWrite += llm.cacheWriteTokens ?? 0
  sums.reasoning += llm.reasoningTokens ?? 0
}

const MOST_ROWS = 500
const MINUTE = 60_000
const RANGE_MILLIS: Readonly<Record<HistoryRange, number>> = {
  '15m': 15 * MINUTE,
  '3h': 180 * MINUTE,
  '24h': 1440 * MINUTE,
}
