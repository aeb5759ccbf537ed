import type { CheckRequest, ConfigHistory, PastConfigText } from '@portico/gateway/admin-config'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { getJson, RefusedCall } from '../api/client.ts'
import { checkConfig, runBacktest } from './config-calls.ts'

export const historyQuery = queryOptions({
  queryKey: ['config-history'],
  queryFn: ({ signal }) => getJson<ConfigHistory>('/api/config/history', signal),
  refetchInterval: 5000,
})

export const pastQuery = (generation: number) =>
  queryOptions({
    queryKey: ['config-history', generation],
    queryFn: ({ signal }) => getJson<PastConfigText>(`/api/config/history/${generation}`, signal),
    staleTime: Infinity,
  })

/** `live` names the config that the text is compared with, because the result depends on it. */
export const checkQuery = (request: CheckRequest, live: string) =>
  queryOptions({
    queryKey: ['config-check', live, request.generation ?? 0, request.text],
    queryFn: ({ signal }) => checkConfig(request, signal),
    staleTime: Infinity,
    gcTime: 10_000,
    placeholderData: keepPreviousData,
  })

/** A back-test runs anew for each dialog, because requests are recorded all the time. */
export const backtestQuery = (request: CheckRequest, live: string) =>
  queryOptions({
    queryKey: ['backtest', live, request.generation ?? 0, request.text],
    queryFn: ({ signal }) => runBacktest(request, signal),
    gcTime: 0,
    staleTime: Infinity,
    // The gateway runs one back-test at a time, and answers 429 meanwhile.
    retry: (failures, error) => failures < 5 && error instanceof RefusedCall && error.status === 429,
    retryDelay: 2000,
  })
