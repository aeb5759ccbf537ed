import type { LlmRecord } from '../../records/llm-record.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import { Exemplars, type SampledSpans } from './exemplars.ts'
import { families, HTTP_METHODS, type LabelValues } from './families.ts'
import { createLabelSets, type LabelSets, type RouteLabels } from './label-sets.ts'
import { McpMetrics, mcpLabels } from './mcp-metrics.ts'
import { type CustomLabels, increase, MOST_LABEL_SETS, observe, type Registry } from './metrics.ts'
import { ModelMetrics, modelLabels } from './model-metrics.ts'

/** The fields of a request or TCP connection that metrics count; the `RequestContext` of the pipeline has them. */
export interface RequestOutcome {
  readonly method: string | null
  /** 0 when there was no response, and on TCP. */
  readonly status: number
  readonly reason: string
  /** Index into `backends` of the route; -1 when none was called. */
  readonly backendIndex: number
  readonly retryAttempt: number
  readonly requestBytes: number
  readonly responseBytes: number
  readonly startedAt: number
  readonly durationMs: number
  /** The model call of the request; null without one. */
  readonly llm: LlmRecord | null
  /** The MCP message of the request; null without one. */
  readonly mcp: McpRecord | null
  /** The spans of a sampled request. */
  readonly spans?: SampledSpans | null
}

/** Labels that a config adds, each computed for every request. */
export interface AddedLabels {
  names: readonly string[]
  /** Returns one value for each name. `scope` has the variables for expressions. */
  valuesOf(scope: object): readonly string[]
}

/** Counts a finished request; `scope` is used for added labels only. */
export type RecordRequest = (outcome: RequestOutcome, scope: object | null) => void

export type RequestMetrics = (route: RouteLabels, added?: AddedLabels | null) => RecordRequest

/**
 * Returns a function that makes the counter of a compiled route, which is called at the end of each request. `exemplars` gets
 * the sampled requests. `onFull` is called once for each group of labels (added, model, MCP) whose values become too many.
 */
export function createRequestMetrics(
  registry: Registry,
  onFull: (names: readonly string[]) => void = () => {},
  exemplars: Exemplars = new Exemplars(() => {}),
): RequestMetrics {
  const { values } = registry
  const reasonId = createReasonIds()
  const modelMetrics = new ModelMetrics(registry, exemplars, () => onFull(modelLabels))
  const mcpMetrics = new McpMetrics(registry, exemplars, () => onFull(mcpLabels))
  // Kept by names, so that reloads with the same labels share one bound.
  const setsByNames = new Map<string, LabelSets>()

  return (route, added = null) => {
    const seriesByKey = new Map<number, RequestSeries>()
    const sets = added === null ? null : labelSets(added.names)
    return (outcome, scope) => {
      const reason = reasonId(outcome.reason)
      const statusKey = (outcome.backendIndex + 1) * 1024 + statusId(outcome.status)
      const kind = (outcome.llm !== null ? 16 : outcome.mcp !== null ? 32 : 0) + methodId(outcome.method)
      let key = (statusKey * 64 + kind) * MAX_REASONS + reason
      const set = added === null || sets === null ? 0 : sets.idOf(added.valuesOf(scope ?? NOTHING))
      if (added !== null) key = key * (MOST_LABEL_SETS + 1) + set
      let series = seriesByKey.get(key)
      if (series === undefined) {
        series = createSeries(registry, labelsOf(route, outcome, reason), sets === null ? null : sets.labels(set))
        seriesByKey.set(key, series)
      }
      record(series, outcome)
      const { llm, mcp, startedAt, durationMs, spans = null } = outcome
      if (llm !== null) modelMetrics.record({ llm, startedAt, durationMs, spans }, route, series.custom)
      if (mcp !== null) mcpMetrics.record({ mcp, durationMs, spans }, route, series.custom)
    }
  }

  function labelSets(names: readonly string[]): LabelSets {
    const key = JSON.stringify(names)
    let sets = setsByNames.get(key)
    if (sets === undefined) setsByNames.set(key, (sets = createLabelSets(names, () => onFull(names))))
    return sets
  }

  function record(series: RequestSeries, outcome: RequestOutcome): void {
    if (series.requests >= 0) increase(values, series.requests, 1)
    increase(values, series.requestBytes, outcome.requestBytes)
    increase(values, series.responseBytes, outcome.responseBytes)
    observe(values, series.duration, DURATION_BUCKETS, outcome.durationMs / 1000)
    const { spans = null } = outcome
    if (spans !== null) exemplars.note(series.duration, DURATION_BUCKETS, outcome.durationMs / 1000, spans)
    if (outcome.retryAttempt > 0) {
      if (series.retries < 0) series.retries = registry.slot('retries_total', series.labels, series.custom)
      increase(values, series.retries, outcome.retryAttempt)
    }
  }
}

type RequestLabels = LabelValues<'requests_total'>

const NOTHING = {}

interface RequestSeries {
  labels: RequestLabels
  custom: CustomLabels | null
  /** -1 on TCP, which has no requests. */
  requests: number
  requestBytes: number
  responseBytes: number
  duration: number
  /** -1 until the first retry: most routes never have one. */
  retries: number
}

const DURATION_BUCKETS = families.request_duration_seconds.buckets
const METHODS = ['unknown', ...HTTP_METHODS, 'other'] as const
const OTHER_METHOD = METHODS.length - 1
const methodIds = new Map<string, number>(METHODS.slice(1, OTHER_METHOD).map((method, i) => [method, i + 1]))

// Unknown methods share one id, because clients may send any method.
function methodId(method: string | null): number {
  if (method === 'GET') return 1
  return method === null ? 0 : (methodIds.get(method) ?? OTHER_METHOD)
}

const OTHER_STATUS = 1

function statusId(status: number): number {
  return status === 0 || (status >= 100 && status <= 599) ? status : OTHER_STATUS
}

const MAX_REASONS = 64
const OTHER_REASON = MAX_REASONS - 1

function createReasonIds(): (reason: string) => number {
  const ids = new Map<string, number>([['Upstream', 0]])
  return (reason) => {
    if (reason === 'Upstream') return 0
    const known = ids.get(reason)
    if (known !== undefined) return known
    if (ids.size >= OTHER_REASON) return OTHER_REASON
    ids.set(reason, ids.size)
    return ids.size - 1
  }
}

function labelsOf(route: RouteLabels, outcome: RequestOutcome, reason: number): RequestLabels {
  const backend = route.backends[outcome.backendIndex]
  return [
    backend?.name ?? 'unknown',
    outcome.llm !== null
      ? 'llm'
      : outcome.mcp !== null
        ? 'mcp'
        : (backend?.protocol ?? (outcome.method === null ? 'tcp' : 'http')),
    METHODS[methodId(outcome.method)] ?? 'other',
    statusLabel(outcome.status),
    reason === OTHER_REASON ? 'other' : outcome.reason,
    route.bind,
    route.gateway,
    route.listener,
    route.route,
  ]
}

function createSeries(registry: Registry, labels: RequestLabels, custom: CustomLabels | null): RequestSeries {
  const protocol = labels[1]
  return {
    labels,
    custom,
    requests: protocol === 'tcp' || protocol === 'udp' ? -1 : registry.slot('requests_total', labels, custom),
    requestBytes: registry.slot('request_bytes_total', labels, custom),
    responseBytes: registry.slot('response_bytes_total', labels, custom),
    duration: registry.slot('request_duration_seconds', labels, custom),
    retries: -1,
  }
}

function statusLabel(status: number): string {
  const id = statusId(status)
  return id === 0 ? 'unknown' : id === OTHER_STATUS ? 'other' : String(id)
}

/** Returns the function that changes the number of requests without a complete response. */
export function createActiveRequests(registry: Registry): (by: 1 | -1) => void {
  const slot = registry.slot('requests_active', [])
  return (by) => increase(registry.values, slot, by)
}

/** Records the time from a call to the head of its response, in milliseconds. */
export function createCallTimer(registry: Registry, [kind, subtype]: CallKind, exemplars: Exemplars): CallTimer {
  const { values } = registry
  const { buckets } = families.upstream_call_duration_seconds
  const slot = registry.slot('upstream_call_duration_seconds', [kind, subtype])
  return (milliseconds, spans) => {
    observe(values, slot, buckets, milliseconds / 1000)
    if (spans !== null) exemplars.note(slot, buckets, milliseconds / 1000, spans)
  }
}

type CallKind = readonly [kind: string, subtype: string]
/** `spans` are those of the request that the call is made for. */
export type CallTimer = (milliseconds: number, spans: SampledSpans | null) => void
