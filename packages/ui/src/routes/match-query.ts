import type { MatchQuestion, RouteMatchView } from '@portico/gateway/admin-api'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from '../api/client.ts'

/** Null while there is nothing to ask. With another config the answer may be another. */
export const matchQuery = (question: MatchQuestion | null, generation: number) =>
  queryOptions({
    queryKey: ['match', generation, question],
    queryFn: async ({ signal }) => {
      const answer = await call('/api/routes/match', { method: 'POST', body: question, signal })
      return (await answer.json()) as RouteMatchView
    },
    enabled: question !== null,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    retry: false,
  })
