import type {
  Explanation,
  GatewayState,
  HistoryRange,
  RequestList,
  RequestRecord,
  SeriesView,
  UsageView,
} from '@portico/gateway/admin-api'
import type { BackendsView, ConfigView, RoutesView } from '@portico/gateway/admin-config'
import { queryOptions } from '@tanstack/react-query'
import { getJson } from './client.ts'

/** The queries of the pages. Data that changes is read again while a page shows it. */

export const stateQuery = queryOptions({
  queryKey: ['state'],
  queryFn: ({ signal }) => getJson<GatewayState>('/api/state', signal),
  refetchInterval: 1000,
})

export const recordQuery = (id: string) =>
  queryOptions({
    queryKey: ['record', id],
    queryFn: ({ signal }) => getJson<RequestRecord>(`/api/requests/${encodeURIComponent(id)}`, signal),
    // A record never changes.
    staleTime: Infinity,
    retry: false,
  })

export const explanationQuery = (id: string) =>
  queryOptions({
    queryKey: ['explanation', id],
    queryFn: ({ signal }) => getJson<Explanation>(`/api/requests/${encodeURIComponent(id)}/explain`, signal),
    staleTime: 60_000,
    retry: false,
  })

export function listRequests(parameters: URLSearchParams, signal?: AbortSignal): Promise<RequestList> {
  return getJson<RequestList>(`/api/requests?${parameters.toString()}`, signal)
}

export const routesQuery = queryOptions({
  queryKey: ['routes'],
  queryFn: ({ signal }) => getJson<RoutesView>('/api/routes', signal),
  refetchInterval: 5000,
})

export const backendsQuery = queryOptions({
  queryKey: ['backends'],
  queryFn: ({ signal }) => getJson<BackendsView>('/api/backends', signal),
  refetchInterval: 5000,
})

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: ({ signal }) => getJson<ConfigView>('/api/config', signal),
  refetchInterval: 2000,
})

/** The newest requests of the last minute, for rates. */
export const recentQuery = queryOptions({
  queryKey: ['recent'],
  queryFn: ({ signal }) => listRequests(new URLSearchParams({ since: '60s', limit: '1000' }), signal),
  refetchInterval: 2000,
})

/** The newest model and tool calls. */
export const callsQuery = queryOptions({
  queryKey: ['calls'],
  queryFn: ({ signal }) =>
    listRequests(
      new URLSearchParams({
        since: '24h',
        limit: '500',
        expression: 'default(llm.requestModel, "") != "" || default(mcp.tool.name, "") != ""',
      }),
      signal,
    ),
  staleTime: 30_000,
})

/** The latest denied or failed requests. */
export const refusalsQuery = queryOptions({
  queryKey: ['refusals'],
  queryFn: ({ signal }) =>
    listRequests(
      new URLSearchParams({ outcome: 'denied,limited,failed,evicted', limit: '200', headline: 'true' }),
      signal,
    ),
  refetchInterval: 2000,
})

/** Series for the charts. Steps of the shortest range end every five seconds. */
export const seriesQuery = (range: HistoryRange) =>
  queryOptions({
    queryKey: ['series', range],
    queryFn: ({ signal }) => getJson<SeriesView>(`/api/metrics/series?range=${range}`, signal),
    refetchInterval: 5000,
  })

/** Usage of models. The gateway reads every record of the range for it, so the interval is long. */
export const usageQuery = (range: HistoryRange) =>
  queryOptions({
    queryKey: ['usage', range],
    queryFn: ({ signal }) => getJson<UsageView>(`/api/metrics/usage?range=${range}`, signal),
    refetchInterval: 15_000,
  })
