import type { AttemptCharge, LlmRecord, ProviderAttempt } from '../../records/llm-record.ts'
import type { Exemplars, SampledSpans } from './exemplars.ts'
import { families, type HistogramName, type LabelValues } from './families.ts'
import type { RouteLabels } from './label-sets.ts'
import { BoundedSeries, type CustomLabels, increase, labelText, observe, type Registry } from './metrics.ts'

/** A request that was a model call. */
interface ModelCall {
  readonly llm: LlmRecord
  readonly startedAt: number
  readonly durationMs: number
  readonly spans: SampledSpans | null
}

/** Labels whose values clients choose; beyond the bound their value is `other`. */
export const modelLabels = ['gen_ai_request_model', 'gen_ai_response_model'] as const

/** Counts model calls of one thread. */
export class ModelMetrics {
  readonly #registry: Registry
  readonly #exemplars: Exemplars
  readonly #series: BoundedSeries<ModelLabels, ModelSeries>
  readonly #failureSlots = new Map<string, number>()
  #last: LastSeries | null = null

  /** `onFull` is called once, for the first label set beyond the bound. */
  constructor(registry: Registry, exemplars: Exemplars, onFull: () => void) {
    this.#registry = registry
    this.#exemplars = exemplars
    this.#series = new BoundedSeries<ModelLabels, ModelSeries>({
      make: (labels, custom) => ({
        labels,
        custom,
        tokens: new Map(),
        times: new Map(),
        cache: new Map(),
        cost: null,
        saved: null,
      }),
      asOther: ([operation, system, , , ...place]) => [operation, system, 'other', 'other', ...place],
      onFull,
    })
  }

  /** `custom` are the labels that the config adds. */
  record({ llm, startedAt, durationMs, spans }: ModelCall, route: RouteLabels, custom: CustomLabels | null): void {
    this.#countFailures(llm.attempts, route)
    // Attempts before the last one, and lookups, cost what their own provider and model cost.
    const addCharge = (charge: AttemptCharge): void =>
      this.#addCost(this.#series.of(labelsOf(charge, route), custom), charge.costUsd)
    for (const { charge } of llm.attempts) if (charge !== null) addCharge(charge)
    for (const charge of llm.lookups) addCharge(charge)
    // The request was never sent, or is not a call of a model.
    if (llm.provider === '' || (llm.requestModel === '' && llm.responseModel === '')) return
    const series = this.#seriesOf(llm, route, custom)
    const { input, output, cacheRead, cacheWrite } = llm.usage
    this.#countTokens(series, 'input', input, spans)
    this.#countTokens(series, 'output', output, spans)
    this.#countTokens(series, 'input_cache_read', cacheRead, spans)
    this.#countTokens(series, 'input_cache_write', cacheWrite, spans)
    this.#addCost(series, llm.ownCostUsd)
    if (llm.cache !== null) {
      this.#countCache(series, llm.cache.status, llm.savedNanoDollars)
      llm.cacheUses?.count(llm.cache.status, llm.savedNanoDollars)
    }
    this.#time(series, 'gen_ai_server_request_duration', durationMs, spans)
    this.#time(series, 'gen_ai_server_time_to_first_token', llm.timeToFirstToken(startedAt), spans)
    this.#time(series, 'gen_ai_server_time_per_output_token', llm.timePerOutputToken, spans)
  }

  /** Returns the series of a call. Most calls have the labels of the call before, and comparing is faster than a lookup. */
  #seriesOf(llm: LlmRecord, route: RouteLabels, custom: CustomLabels | null): ModelSeries {
    const { operation, provider, requestModel, responseModel } = llm
    const last = this.#last
    if (
      last !== null &&
      last.requestModel === requestModel &&
      last.responseModel === responseModel &&
      last.provider === provider &&
      last.operation === operation &&
      last.route === route &&
      last.custom === custom
    ) {
      return last.series
    }
    const series = this.#series.of(labelsOf(llm, route), custom)
    this.#last = { operation, provider, requestModel, responseModel, route, custom, series }
    return series
  }

  /** Counts failed attempts and failovers. Labels that the config adds are left out, so that the series stay few. */
  #countFailures(attempts: readonly ProviderAttempt[], { bind, gateway, listener, route }: RouteLabels): void {
    const { values } = this.#registry
    for (const [at, { providerName, provider, outcome, hasFailed }] of attempts.entries()) {
      if (!hasFailed) continue
      const labels = [providerName, provider, outcome, bind, gateway, listener, route] as const
      increase(values, this.#failureSlot('gen_ai_provider_failures_total', labels), 1)
      if (at + 1 < attempts.length) increase(values, this.#failureSlot('gen_ai_failovers_total', labels), 1)
    }
  }

  #failureSlot(name: FailureName, labels: LabelValues<FailureName>): number {
    const key = JSON.stringify([name, ...labels])
    let slot = this.#failureSlots.get(key)
    if (slot === undefined) this.#failureSlots.set(key, (slot = this.#registry.slot(name, labels)))
    return slot
  }

  #countTokens(
    { labels, custom, tokens }: ModelSeries,
    type: TokenType,
    count: number | undefined,
    spans: SampledSpans | null,
  ): void {
    // Providers report these numbers; an invalid number would corrupt the sum.
    if (count === undefined || !Number.isSafeInteger(count)) return
    let slot = tokens.get(type)
    if (slot === undefined) {
      slot = this.#registry.slot('gen_ai_client_token_usage', [type, ...labels], custom)
      tokens.set(type, slot)
    }
    this.#observe(slot, families.gen_ai_client_token_usage.buckets, count, spans)
  }

  #addCost(series: ModelSeries, usd: number | null): void {
    if (usd === null) return
    series.cost ??= this.#registry.slot('llm_cost_usd_total', series.labels, series.custom)
    increase(this.#registry.values, series.cost, usd)
  }

  #countCache(series: ModelSeries, outcome: string, savedNanoDollars: number | null): void {
    const { labels, custom, cache } = series
    let slot = cache.get(outcome)
    if (slot === undefined) {
      cache.set(outcome, (slot = this.#registry.slot('llm_cache_requests_total', [outcome, ...labels], custom)))
    }
    increase(this.#registry.values, slot, 1)
    if (savedNanoDollars === null) return
    series.saved ??= this.#registry.slot('llm_cache_saved_usd_total', labels, custom)
    increase(this.#registry.values, series.saved, savedNanoDollars / 1e9)
  }

  #time(
    { labels, custom, times }: ModelSeries,
    name: TimeName,
    millis: number | null,
    spans: SampledSpans | null,
  ): void {
    if (millis === null) return
    let slot = times.get(name)
    if (slot === undefined) times.set(name, (slot = this.#registry.slot(name, labels, custom)))
    this.#observe(slot, families[name].buckets, millis / 1000, spans)
  }

  #observe(slot: number, buckets: readonly number[], value: number, spans: SampledSpans | null): void {
    observe(this.#registry.values, slot, buckets, value)
    if (spans !== null) this.#exemplars.note(slot, buckets, value, spans)
  }
}

type FailureName = 'gen_ai_provider_failures_total' | 'gen_ai_failovers_total'
type ModelLabels = LabelValues<TimeName>
type TokenType = 'input' | 'output' | 'input_cache_read' | 'input_cache_write'
type TimeName = Extract<HistogramName, `gen_ai_server_${string}`>

interface ModelSeries {
  labels: ModelLabels
  custom: CustomLabels | null
  /** First slots, made on first use: few providers report everything. */
  tokens: Map<TokenType, number>
  times: Map<TimeName, number>
  cache: Map<string, number>
  cost: number | null
  saved: number | null
}

type CallLabels = Pick<LlmRecord, 'operation' | 'provider' | 'requestModel' | 'responseModel'>

interface LastSeries extends CallLabels {
  route: RouteLabels
  custom: CustomLabels | null
  series: ModelSeries
}

function labelsOf(llm: CallLabels, { bind, gateway, listener, route }: RouteLabels): ModelLabels {
  return [
    llm.operation ?? 'unknown',
    llm.provider,
    labelText(llm.requestModel),
    labelText(llm.responseModel),
    bind,
    gateway,
    listener,
    route,
  ]
}
