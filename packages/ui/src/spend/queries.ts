import type { UsageReport } from '@portico/gateway/admin-api'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { getJson } from '../api/client.ts'

/** Sums of the ledger since a time in milliseconds since 1970. */
export const spendQuery = (by: readonly string[], since: number) =>
  queryOptions({
    queryKey: ['spend', by, since],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ by: by.join(), since: new Date(since).toISOString() })
      return getJson<UsageReport>(`/api/usage?${query.toString()}`, signal)
    },
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
  })
