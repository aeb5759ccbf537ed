import type { McpRecord } from '../../records/mcp-record.ts'
import type { Exemplars, SampledSpans } from './exemplars.ts'
import { families, type LabelValues } from './families.ts'
import type { RouteLabels } from './label-sets.ts'
import { BoundedSeries, type CustomLabels, increase, labelText, observe, type Registry } from './metrics.ts'

/** A request that was an MCP message. */
interface McpMessage {
  readonly mcp: McpRecord
  readonly durationMs: number
  readonly spans: SampledSpans | null
}

/** Labels whose values clients choose; beyond the bound their value is `other`. */
export const mcpLabels = ['resource'] as const

/** Counts MCP messages of one thread. */
export class McpMetrics {
  readonly #values: Float64Array
  readonly #exemplars: Exemplars
  readonly #series: BoundedSeries<McpLabels, McpSeries>

  /** `onFull` is called once, for the first label set beyond the bound. */
  constructor(registry: Registry, exemplars: Exemplars, onFull: () => void) {
    this.#values = registry.values
    this.#exemplars = exemplars
    this.#series = new BoundedSeries<McpLabels, McpSeries>({
      make: (labels, custom) => ({
        count: registry.slot('mcp_requests_total', labels, custom),
        duration: registry.slot('mcp_request_duration_seconds', labels, custom),
      }),
      asOther: ([method, type, server, , ...rest]) => [method, type, server, 'other', ...rest],
      onFull,
    })
  }

  /** `custom` are the labels that the config adds. */
  record({ mcp, durationMs, spans }: McpMessage, route: RouteLabels, custom: CustomLabels | null): void {
    // Not a request: the client opens or ends a stream, or sends a response.
    if (mcp.method === '') return
    const { count, duration } = this.#series.of(labelsOf(mcp, route), custom)
    increase(this.#values, count, 1)
    const { buckets } = families.mcp_request_duration_seconds
    observe(this.#values, duration, buckets, durationMs / 1000)
    if (spans !== null) this.#exemplars.note(duration, buckets, durationMs / 1000, spans)
  }
}

type McpLabels = LabelValues<'mcp_requests_total'>

/** First slots. */
interface McpSeries {
  count: number
  duration: number
}

function labelsOf(
  { method, target, item, outcome }: McpRecord,
  { bind, gateway, listener, route }: RouteLabels,
): McpLabels {
  return [
    METHODS.has(method) ? method : 'other',
    item?.kind ?? 'none',
    labelText(target || (item?.target ?? '')),
    resourceLabel(item),
    outcome ?? 'unknown',
    bind,
    gateway,
    listener,
    route,
  ]
}

/** Returns the resource label: `none` for tasks, whose ids are as many as calls, and `unknown` for names without a target. */
function resourceLabel(item: McpRecord['item']): string {
  if (item === null || item.kind === 'task') return 'none'
  return item.target === '' ? 'unknown' : labelText(item.name)
}

/** The known methods; clients may send any other text. */
const METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'completion/complete',
  'logging/setLevel',
  'tasks/list',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
])
