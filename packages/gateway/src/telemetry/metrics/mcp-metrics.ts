import type { McpRecord } from '../../records/mcp-record.ts'
import { families, type LabelValues } from './families.ts'
import { labelText } from './label-text.ts'
import { MOST_LABEL_SETS } from './label-sets.ts'
import { type CustomLabels, observe, type Registry } from './metrics.ts'
import type { RouteLabels } from './label-sets.ts'

/** A request that was an MCP message. */
export interface McpMessage {
  readonly mcp: McpRecord
  readonly durationMs: number
}

/** `custom` are the labels that the config adds. */
export type RecordMcpMessage = (message: McpMessage, route: RouteLabels, custom: CustomLabels | null) => void

/** Labels whose values clients choose, and that say `other` once there are too many. */
export const mcpLabels = ['resource'] as const

/** `onFull` hears once that new sets of labels find no room. */
export function createMcpMetrics(registry: Registry, onFull: () => void): RecordMcpMessage {
  const { values } = registry
  const seriesByKey = new Map<string, McpSeries>()
  const otherSeriesByKey = new Map<string, McpSeries>()
  let isFull = false

  return ({ mcp, durationMs }, route, custom) => {
    // A stream is opened or ended, or the client answers: nothing is asked.
    if (mcp.method === '') return
    const series = seriesOf(labelsOf(mcp, route), custom)
    values[series.count]! += 1
    observe(values, series.duration, families.mcp_request_duration_seconds.buckets, durationMs / 1000)
  }

  /** The bound holds for everything together: each set is a series of every family, for as long as the worker lives. */
  function seriesOf(labels: McpLabels, custom: CustomLabels | null): McpSeries {
    const key = JSON.stringify([labels, custom])
    const known = seriesByKey.get(key)
    if (known !== undefined) return known
    if (seriesByKey.size < MOST_LABEL_SETS) return define(seriesByKey, key, labels, custom)
    if (!isFull) onFull()
    isFull = true
    const [method, type, server, , ...rest] = labels
    const others: McpLabels = [method, type, server, 'other', ...rest]
    const otherCustom = custom && { names: custom.names, values: custom.names.map(() => 'other') }
    const otherKey = JSON.stringify([others, otherCustom])
    return otherSeriesByKey.get(otherKey) ?? define(otherSeriesByKey, otherKey, others, otherCustom)
  }

  function define(
    into: Map<string, McpSeries>,
    key: string,
    labels: McpLabels,
    custom: CustomLabels | null,
  ): McpSeries {
    const series: McpSeries = {
      count: registry.slot('mcp_requests_total', labels, custom),
      duration: registry.slot('mcp_request_duration_seconds', labels, custom),
    }
    into.set(key, series)
    return series
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
