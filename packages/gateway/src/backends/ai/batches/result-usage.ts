import type { Usage } from '@portico/chat'
import { DetectedAnswer } from '@portico/chat/detect'
import { type JsonObject, parseJsonObject } from '@portico/http/json'
import type { Cost } from '../../../records/cost.ts'
import type { LlmRecord, Pricer } from '../../../records/llm-record.ts'

/**
 * Adds up the token usage of the responses in a batch's results. Each response is priced on its own, because rates
 * depend on its size.
 */
export class ResultUsage {
  readonly #record: LlmRecord
  readonly #pricer: Pricer | null
  readonly #responseOf: (line: JsonObject) => JsonObject | null
  #sum: Record<string, number> = {}
  #cost: Cost | null = null
  #hasGaps = false

  /** `pricer` has the prices of batches. */
  constructor(record: LlmRecord, pricer: Pricer | null, responseOf: (line: JsonObject) => JsonObject | null) {
    this.#record = record
    this.#pricer = pricer
    this.#responseOf = responseOf
  }

  add(line: Buffer): void {
    const parsed = parseJsonObject(line.toString('utf8'))
    const response = parsed === null ? null : this.#responseOf(parsed)
    if (response === null) return
    const found = { requestModel: '', responseModel: '', streaming: false, usage: {} as Usage, isEstimated: false }
    const answer = new DetectedAnswer(found, () => null, Infinity)
    answer.chunk(Buffer.from(JSON.stringify(response)))
    answer.over(true)
    if (found.responseModel !== '') this.#record.responseModel = found.responseModel
    // A response is priced as part of a batch, whatever service tier it reports.
    const { serviceTier: _tier, ...usage } = found.usage
    if (usage.input === undefined && usage.output === undefined) {
      this.#hasGaps = true
      return
    }
    for (const [name, count] of Object.entries(usage)) {
      if (typeof count === 'number') this.#sum[name] = (this.#sum[name] ?? 0) + count
    }
    this.#price(found.responseModel, usage)
  }

  /** Writes the sums of usage and cost to the record; called once, at the end of the results. */
  finish(): void {
    const record = this.#record
    record.addUsage({ input: 0, output: 0, ...this.#sum })
    if (this.#hasGaps) record.isEstimated = true
    const cost = this.#cost ?? NOTHING
    if (this.#pricer !== null) record.pricer = () => cost
  }

  #price(responseModel: string, usage: Usage): void {
    const { requestModel } = this.#record
    const cost = this.#pricer?.({ requestModel, responseModel, usage, isEstimated: this.#hasGaps }) ?? null
    const before = this.#cost
    // The sum is unknown when one cost is unknown.
    if (cost === null || before?.kind === 'unknown') return
    if (before === null || cost.kind === 'unknown') this.#cost = cost
    else this.#cost = { ...cost, nanoDollars: before.nanoDollars + cost.nanoDollars }
  }
}

const NOTHING: Cost = {
  kind: 'known',
  nanoDollars: 0,
  row: 'no row',
  table: 'a batch without usage',
  basis: 'computed',
}
