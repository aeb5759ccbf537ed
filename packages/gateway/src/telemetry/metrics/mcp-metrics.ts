import type { McpRecord } from '../../records/mcp-record.ts'
import type { Exemplars, SampledSpans } from './exemplars.ts'
import { families, type LabelValues } from './families.ts'
import { BoundedSeries, labelText, type RouteLabels } from './label-sets.ts'
import { increase, type CustomLabels, observe, type Registry } from './metrics.ts'

/** A request that was an MCP message. */
export interface McpMessage {
  readonly mcp: McpRecord
  readonly durationMs: number
  readonly spans: SampledSpans | null
}

/** Labels whose values clients choose, and that say `other` once there are too many. */
export const mcpLabels = ['resource'] as const

/** Counts MCP messages of one thread. */
export class McpMetrics {
  readonly #values: Float64Array
  readonly #exemplars: Exemplars
  readonly #series: BoundedSeries<McpLabels, McpSeries>

  /** `onFull` hears once that new sets of labels find no room. */
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
    // A stream is opened or ended, or the client answers: nothing is asked.
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

/** Ids of tasks are as many as calls; of what no target was found for, the name is the client's invention. */
function resourceLabel(item: McpRecord['item']): string {
  if (item === null || item.kind === 'task') return 'none'
  return item.target === '' ? 'unknown' : labelText(item.name)
}

/** Clients may ask for anything. */
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
