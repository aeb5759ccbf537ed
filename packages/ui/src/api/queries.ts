import type { GatewayState, RequestList, RequestRecord } from '@portico/gateway/admin-api'
import { queryOptions } from '@tanstack/react-query'
import { getJson } from './client.ts'

/** What each page asks for. What changes by itself is asked for again while somebody looks. */

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

export function listRequests(parameters: URLSearchParams, signal?: AbortSignal): Promise<RequestList> {
  return getJson<RequestList>(`/api/requests?${parameters.toString()}`, signal)
}
