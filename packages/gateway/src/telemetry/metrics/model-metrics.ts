import type { LlmRecord, ProviderAttempt } from '../../records/llm-record.ts'
import { families, type HistogramName, type LabelValues } from './families.ts'
import { labelText } from './label-text.ts'
import { MOST_LABEL_SETS } from './label-sets.ts'
import { type CustomLabels, observe, type Registry } from './metrics.ts'
import type { RouteLabels } from './label-sets.ts'

/** A request that was a model call. */
export interface ModelCall {
  readonly llm: LlmRecord
  readonly startedAt: number
  readonly durationMs: number
}

/** `custom` are the labels that the config adds. */
export type RecordModelCall = (call: ModelCall, route: RouteLabels, custom: CustomLabels | null) => void

/** Labels whose values clients choose, and that say `other` once there are too many. */
export const modelLabels = ['gen_ai_request_model', 'gen_ai_response_model'] as const

/** `onFull` hears once that new sets of labels find no room. */
export function createModelMetrics(registry: Registry, onFull: () => void): RecordModelCall {
  const { values } = registry
  const seriesByKey = new Map<string, ModelSeries>()
  const otherSeriesByKey = new Map<string, ModelSeries>()
  const failureSlots = new Map<string, number>()
  let isFull = false

  return ({ llm, startedAt, durationMs }, route, custom) => {
    countFailures(llm.attempts, route)
    // Never sent, or something else at the provider than a call of a model.
    if (llm.provider === '' || (llm.requestModel === '' && llm.responseModel === '')) return
    const series = seriesOf(labelsOf(llm, route), custom)
    const { input, output, cacheRead, cacheWrite } = llm.usage
    countTokens(series, 'input', input)
    countTokens(series, 'output', output)
    countTokens(series, 'input_cache_read', cacheRead)
    countTokens(series, 'input_cache_write', cacheWrite)
    time(series, 'gen_ai_server_request_duration', durationMs)
    time(series, 'gen_ai_server_time_to_first_token', llm.timeToFirstToken(startedAt))
    time(series, 'gen_ai_server_time_per_output_token', llm.timePerOutputToken)
  }

  /** Labels of the config, and causes of which there are few: without those that a config adds, so that this stays so. */
  function countFailures(attempts: readonly ProviderAttempt[], { bind, gateway, listener, route }: RouteLabels): void {
    for (const [at, { providerName, provider, outcome, hasFailed }] of attempts.entries()) {
      if (!hasFailed) continue
      const labels = [providerName, provider, outcome, bind, gateway, listener, route] as const
      values[slotOf('gen_ai_provider_failures_total', labels)]! += 1
      if (at + 1 < attempts.length) values[slotOf('gen_ai_failovers_total', labels)]! += 1
    }
  }

  function slotOf(name: FailureName, labels: LabelValues<FailureName>): number {
    const key = JSON.stringify([name, ...labels])
    let slot = failureSlots.get(key)
    if (slot === undefined) failureSlots.set(key, (slot = registry.slot(name, labels)))
    return slot
  }

  /** The bound holds for everything together: each set is a series of every family, for as long as the worker lives. */
  function seriesOf(labels: ModelLabels, custom: CustomLabels | null): ModelSeries {
    const key = JSON.stringify([labels, custom])
    const known = seriesByKey.get(key)
    if (known !== undefined) return known
    if (seriesByKey.size < MOST_LABEL_SETS) return define(seriesByKey, key, labels, custom)
    if (!isFull) onFull()
    isFull = true
    const [operation, system, , , ...place] = labels
    const others: ModelLabels = [operation, system, 'other', 'other', ...place]
    const otherCustom = custom && { names: custom.names, values: custom.names.map(() => 'other') }
    const otherKey = JSON.stringify([others, otherCustom])
    return otherSeriesByKey.get(otherKey) ?? define(otherSeriesByKey, otherKey, others, otherCustom)
  }

  function define(
    into: Map<string, ModelSeries>,
    key: string,
    labels: ModelLabels,
    custom: CustomLabels | null,
  ): ModelSeries {
    const series: ModelSeries = { labels, custom, tokens: new Map(), times: new Map() }
    into.set(key, series)
    return series
  }

  function countTokens({ labels, custom, tokens }: ModelSeries, type: TokenType, count: number | undefined): void {
    // Providers write these numbers: one that is none would spoil the sum for ever.
    if (count === undefined || !Number.isSafeInteger(count)) return
    let slot = tokens.get(type)
    if (slot === undefined) {
      tokens.set(type, (slot = registry.slot('gen_ai_client_token_usage', [type, ...labels], custom)))
    }
    observe(values, slot, families.gen_ai_client_token_usage.buckets, count)
  }

  function time({ labels, custom, times }: ModelSeries, name: TimeName, millis: number | null): void {
    if (millis === null) return
    let slot = times.get(name)
    if (slot === undefined) times.set(name, (slot = registry.slot(name, labels, custom)))
    observe(values, slot, families[name].buckets, millis / 1000)
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
}

function labelsOf(llm: LlmRecord, { bind, gateway, listener, route }: RouteLabels): ModelLabels {
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
