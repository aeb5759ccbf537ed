import type { MatchQuestion, RouteMatchView } from '@portico/gateway/admin-api'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from '../api/client.ts'

/** The matching routes of a question, per config generation; disabled while the question is null. */
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
